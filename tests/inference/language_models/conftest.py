"""The local model, for the tests of this folder."""

from .local_model import local_model as local_model
