"""A module without run()."""
