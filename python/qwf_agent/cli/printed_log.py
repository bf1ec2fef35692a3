"""The log of a job as it is printed while it grows."""

from __future__ import annotations

import click

from qwf_agent.system.log_pipe import last_writing

COMPARED = 4096  # characters of the printed end, to find it again in the whole log


class PrintedLog:
    """How much of a job's log has been printed.

    Invariant: of attempt `attempt`, the first `bytes` bytes are printed. Without what its lines
    have overwritten they are `kept` bytes, and `end` is the last part of those. Attempts up to
    `ended` are printed completely. A line before the first byte says which attempt it is, if that
    is not the first; `titled`: it is printed, or not needed.
    """

    def __init__(self) -> None:
        self.attempt = self.ended = self.bytes = self.kept = 0
        self.end = ""
        self.titled = True

    def print_live(self, attempt: int, offset: int, tail: str) -> None:
        """Print what is new in `tail`, the end of a log that has `offset` bytes so far."""
        self._turn_to(attempt)
        new = offset - self.bytes
        data = tail.encode()
        if new > len(data):
            click.echo(f"... {new - len(data)} bytes skipped ...", err=True)
            self.kept, self.end = self.kept + new - len(data), ""
        if new > 0:
            self._print(data[-new:].decode(errors="ignore"))
            self.bytes = offset

    def print_rest(self, attempt: int, log: str) -> None:
        """Print the rest of the log of an attempt that has ended."""
        self._turn_to(attempt)
        self.ended = attempt
        self._print(self._missing(log))
        if self.end and not self.end.endswith("\n"):
            click.echo()

    def _missing(self, log: str) -> str:
        """The rest of `log`, after the part that is printed. If the last printed line had no end
        yet, it may have been overwritten; then it is written again."""
        data = log.encode()
        if data[: self.kept].endswith(self.end.encode()):  # the log is complete
            return data[self.kept :].decode(errors="ignore")
        lines, end, open_line = self.end.rpartition("\n")
        at = self.kept - len(open_line.encode())
        if open_line and data[:at].endswith((lines + end).encode()):
            return "\r" + data[at:].decode(errors="ignore")
        if self.end in log:
            return log.rpartition(self.end)[2]
        if open_line and lines:
            return "\r" + log.rpartition(lines + end)[2]
        return log

    def _turn_to(self, attempt: int) -> None:
        if attempt != self.attempt:
            self.attempt, self.bytes, self.kept, self.end = attempt, 0, 0, ""
            self.titled = attempt == 1

    def _print(self, text: str) -> None:
        if text:
            if not self.titled:
                self.titled = True
                click.echo(f"── attempt {self.attempt} ──", err=True)
            click.echo(text, nl=False)
            end = last_writing((self.end + text).encode())
            self.kept += len(end) - len(self.end.encode())
            self.end = end.decode()[-COMPARED:]
