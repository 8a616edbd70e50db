"""A least amount of work, as *Go deeper* asks for: results come back before it is done."""
