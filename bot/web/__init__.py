"""The web: pages are fetched, and searched for."""
