"""The tools, one file for each family. README.md says how to add a tool."""
