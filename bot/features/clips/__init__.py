"""Voice and video clips: what is said in them, in Slack's own transcript or the model service's."""
