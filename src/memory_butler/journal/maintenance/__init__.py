"""The maintenance agent: a model reads the log and proposes what the fragments should be."""
