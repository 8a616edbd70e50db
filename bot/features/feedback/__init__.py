"""Ratings of answers, and instructions that admins try before they save them."""
