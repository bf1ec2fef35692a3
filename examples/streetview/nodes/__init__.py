"""Node bodies of the street-view example: one module per node, one `run` per module."""
