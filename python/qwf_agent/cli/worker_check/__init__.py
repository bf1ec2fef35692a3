"""`qwf worker-check`: a conformance kit for workers in any language.

`command` is the verb and its report, `place` the database, `process` the worker, `kit` what checks
are made of; the checks are in `starting`, `outcomes`, `telling`, `leases`, `orders`, `stopping`.
"""

from __future__ import annotations

from qwf_agent.cli.worker_check.command import CHECKS, worker_check

__all__ = ["CHECKS", "worker_check"]
