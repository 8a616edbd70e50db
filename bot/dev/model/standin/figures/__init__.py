"""Questions about tables and databases: a grammar of whole sentences, and what is told of the result."""
