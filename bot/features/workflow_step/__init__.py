"""The step of Workflow Builder that asks a question."""
