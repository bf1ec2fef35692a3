"""Statements about the fleet that the terminal and the page share, and sums of the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import LiteralString

COUNTED = 10_000  # queued jobs of a queue: queue_overview counts that far, and estimates more
QUEUES: LiteralString = "select * from qwf.queue_overview order by queue"
RUNNING: LiteralString = """
select id, run_id, node_id, task, queue, progress, progress_message, attempt, host, seconds
from qwf.running_jobs
order by claimed_at
limit 200
"""
# Inside, the view is in this order by itself, and the limit stops it: sorted outside, it would read
# every failure first.
FAILED: LiteralString = """
select id, run_id, node_id, task, queue, attempt, finished_at, whole_error as error, released
from (select * from qwf.failed_jobs limit 100) f
order by finished_at desc
"""
QUESTIONS: LiteralString = "select * from qwf.find_inputs()"


def sums(queues: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Jobs of all queues together, and whether a number is only a lower bound, as qwf.overview has
    them: who has read the queues need not count again."""
    return {
        "queued": sum(min(queue["queued"], COUNTED) for queue in queues),
        "more_queued": any(queue["queued"] > COUNTED for queue in queues),
        "scheduled": sum(queue["scheduled"] for queue in queues),
        "more_scheduled": any(queue["more_scheduled"] for queue in queues),
        "running": sum(queue["running"] for queue in queues),
    }
