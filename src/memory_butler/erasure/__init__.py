"""Erasing what somebody has a right to have forgotten, and the proof of it."""
