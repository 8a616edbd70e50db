"""Renderers of the typed results, one module each, and the tables and charts in them."""
