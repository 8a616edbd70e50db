"""`bot backup` and `bot restore`: everything that must not be lost, in one sealed file."""
