"""Groups of failures, as the terminal and the page read them, and what people say about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from qwf_agent.look.draw.words import FarTime

if TYPE_CHECKING:
    from typing_extensions import LiteralString

# Those that are new or failed again come first, then those that were seen, then the snoozed.
GROUPS: LiteralString = """
select * from qwf.failure_groups(since => qwf.now() - %(back)s::interval,
  task => %(task)s, queue => %(queue)s, host => %(host)s, workflow => %(workflow)s)
"""
MARK: LiteralString = """
select qwf.mark_failures(%(task)s, %(signature)s, seen => %(seen)s, snooze => %(snooze)s::interval,
  until_release => %(until_release)s, note => %(note)s)
"""
UNTIL_RELEASE = "until the next release"


def snoozed(group: Mapping[str, Any], at: str) -> str:
    """How long a group is snoozed; `at` is the time, as it is written there."""
    ends = group["snoozed_until"]
    return UNTIL_RELEASE if isinstance(ends, FarTime) else f"until {at}"
