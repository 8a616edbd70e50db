"""Commands of the operator, run before and after calls of tools."""
