"""What people say: small talk, threads, channels, people, what is remembered, and what rules cannot do."""
