"""Where qwf stands: scenarios that anyone can repeat, and the same work done by its peers.

`python -m bench` lists them. Work is counted as committed ends in the database, done by processes
of their own, with fsync on.
"""
