"""A cluster of three Postgres servers that fail over, on one machine: each in a network of its own,
run by the files of examples/high_availability; agents and producers before it; and its faults."""
