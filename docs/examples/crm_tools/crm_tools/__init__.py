"""Tickets of our CRM for the Slack agent."""
