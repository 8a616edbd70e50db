"""The Home tab, with personal, channel and admin settings."""
