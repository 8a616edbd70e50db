"""Values of files against independent readers."""
