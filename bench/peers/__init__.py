"""The peers: how each is installed, filled, worked off and looked at."""
