"""The web: fetching, search, and the clients that tools bring."""
