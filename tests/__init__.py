"""What users rely on, shown."""
