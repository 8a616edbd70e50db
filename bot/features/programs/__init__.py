"""Programs: Python that the model writes, run in a process that the kernel closes."""
