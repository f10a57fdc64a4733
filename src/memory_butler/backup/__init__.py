"""Backup and restoration of a whole installation: database and journals, in one file."""
