"""Tools of the loop itself: acquire, complete, checkpoint and delegate."""
