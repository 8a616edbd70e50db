"""Interpreters of what models and strangers write: SQL, JMESPath, patterns, units, JSON Schema."""
