"""Asking back: the model asks its asker, with options, and the run waits for the answer."""
