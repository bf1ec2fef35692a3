"""All that runs after the fork: user code, and what it is given."""
