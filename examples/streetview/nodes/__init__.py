"""Node bodies of the street-view example: one module per node, with one `run` each."""
