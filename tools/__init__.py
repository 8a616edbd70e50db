"""The tools, one file per family. See README.md for how to add one."""
