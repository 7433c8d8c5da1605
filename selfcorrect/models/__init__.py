"""Models as a port: what they are asked, how they are asked, what that may cost."""
