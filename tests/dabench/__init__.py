"""Questions of an independent benchmark for data analysis, answered by programs over the wire."""
