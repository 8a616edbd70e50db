"""Where the figures of a text come from: references that code fills in, and typed figures that it finds."""
