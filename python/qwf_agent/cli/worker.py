"""`qwf worker` with all its verbs, which have modules of their own."""

from __future__ import annotations

from qwf_agent.cli.fleet import worker
from qwf_agent.cli.forget import forget
from qwf_agent.cli.servers import set_server

__all__ = ["worker"]

worker.add_command(set_server)
worker.add_command(forget)
