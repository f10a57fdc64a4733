"""A tenant moves to another installation: frozen, copied, compared, switched."""
