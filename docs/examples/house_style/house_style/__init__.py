"""House style: answers are written in the words of our house."""
