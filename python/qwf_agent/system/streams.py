"""Standard streams that are closed, or cannot be written."""

from __future__ import annotations

import os
import sys


def open_missing() -> None:
    """Open /dev/null in the place of standard streams that are closed (`qwf doctor >&-`): else a
    connection would get their number, and what is printed would be sent to the database."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115 - for good


def discard_unwritable() -> OSError | None:
    """Discard what cannot be written (`qwf jobs > /dev/full`), so that the interpreter keeps our
    exit code: if it cannot flush its output, it exits with 120. Returns the error, if any."""
    failed = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            failed = error
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return failed
