"""Text: redaction, invisible characters, languages and places."""
