"""Everything that runs in a forked child: user code, and what it is given."""
