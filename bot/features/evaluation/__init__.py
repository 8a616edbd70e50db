"""Another call of the model that judges each result."""
