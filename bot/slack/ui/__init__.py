"""What people see in Slack: blocks, buttons, modals and words."""
