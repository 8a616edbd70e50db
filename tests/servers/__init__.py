"""Model servers that speak the Responses API in dialects of their own."""
