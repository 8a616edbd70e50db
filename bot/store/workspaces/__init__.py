"""State of workspaces and people: installs, schedules, memories, budgets and audit."""
