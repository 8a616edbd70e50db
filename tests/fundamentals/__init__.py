"""A tutorial: read the files in order; each holds one idea."""
