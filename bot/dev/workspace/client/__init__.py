"""What a person does in the Slack client."""
