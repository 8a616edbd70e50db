"""What a deployment takes: events, runs, commands of Redis, CPU."""
