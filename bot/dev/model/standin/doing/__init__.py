"""What is to be done: posts, reminders, canvases, and what is changed of them before a yes."""
