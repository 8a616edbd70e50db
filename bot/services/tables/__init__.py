"""Tables as artifacts: queries, profiles, spreadsheets and charts."""
