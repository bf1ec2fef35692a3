"""Benchmarks of qwf: scenarios that anyone can repeat, and the same work done by its peers.

`python -m bench` lists them. Separate processes do the work, with fsync on, and jobs are counted
in the database once their ends are committed.
"""
