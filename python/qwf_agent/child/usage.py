"""The use of the CPU and of memory by a child."""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

RSS_UNIT = 1 if sys.platform == "darwin" else 1024


class Usage:
    """CPU time and memory that this process and the programs it waited for have used so far."""

    def __init__(self) -> None:
        self.cpu_seconds = 0.0
        self.max_rss_bytes = 0
        self._programs_s, self._programs_rss = 0.0, 0
        self._looked_at = 0.0  # CPU seconds when the memory was last read
        self.measure_cpu(float("inf"))

    def rss_bytes(self) -> int:
        """Memory in use now; the peak on systems that do not report it."""
        return _rss_bytes() or self.max_rss_bytes

    def measure_cpu(self, seconds: float) -> float:
        """CPU seconds since the last call. `seconds` is how long the body ran: in less than a
        millisecond it cannot have run a program, nor have used much memory. Its peak is then read
        only after every 10 ms of CPU time."""
        before = self.cpu_seconds
        if seconds > 0.001:
            programs = resource.getrusage(resource.RUSAGE_CHILDREN)
            self._programs_s = programs.ru_utime + programs.ru_stime
            self._programs_rss = programs.ru_maxrss
        self.cpu_seconds = time.process_time() + self._programs_s
        if seconds > 0.001 or self.cpu_seconds > self._looked_at + 0.01:
            self._looked_at = self.cpu_seconds
            max_rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            self.max_rss_bytes = max(max_rss, self._programs_rss) * RSS_UNIT
        return self.cpu_seconds - before


def _rss_bytes() -> int | None:
    """Memory of this process now; None if the system does not report it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return None
