"""Context that a run brings to the model: thread, files, images and memories."""
