"""A made-up household's memory: for `memory-butler demo`, and for tests and pictures."""
