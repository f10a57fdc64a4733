"""The journals of an installation at work: opened by name, maintained by schedule, bridged."""
