"""Results in words: what every frontend shows of an answer."""
