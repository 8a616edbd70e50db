"""Text: locales, Markdown, mentions, redaction and invisible characters."""
