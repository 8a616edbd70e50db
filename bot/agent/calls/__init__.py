"""Tool calls: validation, approval, execution and outputs."""
