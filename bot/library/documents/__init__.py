"""Documents: what files hold as text and tables, and reports, charts and spreadsheets as files."""
