"""The context that a run gives the model: thread, files, images, memories and schedules."""
