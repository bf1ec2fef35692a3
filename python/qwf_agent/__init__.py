"""qwf: workflows and jobs on self-hosted machines. Postgres decides, this package runs the work."""

__version__ = "0.1.0"
