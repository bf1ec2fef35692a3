"""Faults by a seeded plan against a fleet and a server of its own, and an oracle that knows from
files outside the engine what must be true: `make chaos SECONDS=60 SEED=1`.

plan.py says what is done and when, faults.py how, load.py is the work meanwhile, oracle.py judges.
"""
