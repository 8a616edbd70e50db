"""What an earlier release wrote, and the code of today on top of it: see README.md."""
