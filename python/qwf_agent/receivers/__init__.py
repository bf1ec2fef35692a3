"""Receivers: who gets the messages of alerts. Their addresses and secrets are in qwf.toml of a box,
and nowhere else."""
