"""A least amount of work, as *Look deeper* asks for: results come back before it is done."""
