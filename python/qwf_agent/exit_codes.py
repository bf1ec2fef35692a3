"""Exit codes of `qwf` and of the agent; those above 64 are from sysexits.h."""

from __future__ import annotations

FAILED = 1
NO_DATABASE = 69
REFUSED = 77  # the agent has models for a card and finds none
MISCONFIGURED = 78  # configuration or schema: a supervisor need not try again
INTERRUPTED = 130
