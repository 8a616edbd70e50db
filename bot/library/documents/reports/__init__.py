"""Reports: Markdown as Word and PDF files."""
