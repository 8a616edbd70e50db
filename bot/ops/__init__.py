"""Health, metrics, logs, tracing and `bot doctor`: what an operator looks at."""
