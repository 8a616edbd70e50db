"""Reactions that ask: an emoji on a message stands for an instruction."""
