"""The container image, built and run without a container engine."""
