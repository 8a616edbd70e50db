"""Who is measured: each in a process, and the frameworks of others in environments of their own."""
