"""Profiles in the Home tab: admins make, change and delete them, and choose who answers where."""
