"""Facts that several installations share: each gives what it has, signed, and takes from others."""
