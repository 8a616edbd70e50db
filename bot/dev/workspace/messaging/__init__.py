"""What happens in a conversation: messages, streams, reactions, files, canvases, members."""
