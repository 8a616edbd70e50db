"""Documents, pages and images: what they say of a question."""
