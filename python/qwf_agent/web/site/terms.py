"""Sentences of docs/glossary.md with which the page explains words of the engine."""

from __future__ import annotations

TERMS = {
    "attempt": "One claim of a job, from the claim to its end.",
    "backfill": "A schedule with an end that fires for times in the past.",
    "critical path": "The nodes that decided when a run ended: of each node's dependencies the one "
    "that ended last.",
    "element": "One job of a map: the node, run for one member of the list.",
    "failures": "Attempts that ended badly by what the body did. max_attempts limits how many a "
    "job may have.",
    "first waits": "How long the first job in the line of a queue has waited.",
    "lease": "The time for which a worker holds a job. If it ends without a heartbeat, another "
    "worker gets the job.",
    "leased until": "When the lease of a running job ends. Each heartbeat of its worker puts that "
    "off.",
    "losses": "Attempts that ended by something outside the body, such as a box that died. "
    "max_losses limits how many a job may have.",
    "outbox": "The table of events of runs that nobody has applied yet.",
    "slot": "A place for one running body: of an agent, or of a limit.",
    "tick": "The call that does what time brings: delayed jobs, lapsed leases, schedules, "
    "deletions. Agents make it.",
    "tries left": "How many more failures and losses a job may have before it fails for good.",
}
