"""Exit codes of `qwf` and of the agent; 69, 70, 74, 75, 77 and 78 are from sysexits.h."""

from __future__ import annotations

FAILED = 1
OTHER_VERSION = 3  # qwf migrate verify: changes are pending, or a newer qwf has deployed
NO_DATABASE = 69
BROKEN = 70  # the agent ended because of a defect in it
CANNOT_WRITE = 74  # standard output or error
SWITCHED_OFF = 75  # --until-empty: a queue that is switched off for this box may have jobs
REFUSED = 77  # the agent has models that need a card and finds none
MISCONFIGURED = 78  # wrong configuration or schema: a supervisor should not retry
INTERRUPTED = 130
