"""What the app is sent: events and interactions, over Socket Mode or signed HTTP."""
