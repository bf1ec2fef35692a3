"""The load of a box over time, for the charts of its page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Any

from qwf_agent.web.reads.connections import Rows
from qwf_agent.web.reads.database import Look

# Both statements give the columns of SERIES.
SAMPLES = """
select b.at, b.cpu_percent as cpu, b.cpu_ours_percent as cpu_ours, b.ram_percent as ram,
  case when b.ram_ours_used_mb is not null  -- else least() is 100
    then least(100, 100.0 * b.ram_ours_used_mb / nullif(b.ram_total_mb, 0)) end as ram_ours,
  b.swap_used_mb / 1024.0 as swap, b.gpu_percent as gpu, b.gpu_percent_max as gpu_max,
  b.vram_used_mb / 1024.0 as vram, b.vram_total_mb / 1024.0 as vram_total
from qwf.box_history b
where b.host = %(host)s and b.is_sample and b.at > qwf.now() - interval '10 min'
order by b.at limit 2000
"""
MINUTES = """
select date_bin(make_interval(secs => %(step_s)s), b.at, 'epoch') as at,
  avg(b.cpu_percent) as cpu, max(b.cpu_percent_max) as cpu_max, avg(b.cpu_ours_percent) as cpu_ours,
  avg(b.ram_percent) as ram, max(b.ram_percent_max) as ram_max,
  avg(100.0 * b.ram_ours_used_mb / nullif(b.ram_total_mb, 0)) as ram_ours,
  avg(b.swap_used_mb / 1024.0) as swap, avg(b.gpu_percent) as gpu,
  max(b.gpu_percent_max) as gpu_max, avg(b.vram_used_mb / 1024.0) as vram,
  max(b.vram_total_mb / 1024.0) as vram_total
from qwf.box_history b
where b.host = %(host)s and not b.is_sample
  and b.at > qwf.now() - make_interval(secs => %(length_s)s)
group by 1 order by 1
"""
KNOWN = "select exists (select from qwf.box_history where host = %(host)s)"


@dataclass(frozen=True)
class ChartSpan:
    """A stretch of time that charts show, a point each `step_s`."""

    name: str
    length_s: int
    step_s: int


SPANS = {
    "10m": ChartSpan("10 minutes, live", 600, 5),
    "24h": ChartSpan("24 hours", 86_400, 300),
    "14d": ChartSpan("14 days", 14 * 86_400, 3600),
}


@dataclass(frozen=True)
class Chart:
    """A chart: its title, the unit of its figures, and its lines with their names."""

    title: str
    unit: str
    lines: dict[str, str]


CHARTS = {
    "cpu": Chart("Processors", "%", {"cpu": "all", "cpu_ours": "qwf", "cpu_max": "highest"}),
    "ram": Chart("Memory", "%", {"ram": "all", "ram_ours": "qwf", "ram_max": "highest"}),
    "gpu": Chart("Cards", "%", {"gpu": "average", "gpu_max": "highest"}),
    "vram": Chart("Memory of the cards", "GiB", {"vram": "used", "vram_total": "total"}),
    "swap": Chart("Swap", "GiB", {"swap": "used"}),
}
SERIES = tuple(line for chart in CHARTS.values() for line in chart.lines)


@dataclass
class History:
    """The points of all lines: `at` in seconds since 1970; None where there is no figure."""

    at: list[float]
    lines: dict[str, list[float | None]]

    def charts(self) -> dict[str, Chart]:
        """The charts that have anything to show, with the lines that have any figure."""
        found = {}
        for name, chart in CHARTS.items():
            lines = {line: said for line, said in chart.lines.items() if self._values(line)}
            if any(any(self._values(line)) for line in lines):
                found[name] = Chart(chart.title, chart.unit, lines)
        return found

    def sums(self) -> list[tuple[str, str, float, float]]:
        """Of each line its name, unit, average and highest value: what one sees without charts."""
        found = []
        for chart in self.charts().values():
            for line, said in chart.lines.items():
                values = self._values(line)
                average = sum(values) / len(values)
                found.append((f"{chart.title}, {said}", chart.unit, average, max(values)))
        return found

    def _values(self, line: str) -> list[float]:
        return [value for value in self.lines[line] if value is not None]


async def read(look: Look, host: str, span: str) -> History:
    """The load of a box over a span, one of SPANS."""
    wanted = SPANS[span]
    if span == "10m":
        return _joined(await look.rows(SAMPLES, host=host))
    rows = await look.rows(MINUTES, host=host, step_s=wanted.step_s, length_s=wanted.length_s)
    return _joined(rows, wanted.step_s)


def _joined(rows: Rows, step_s: float | None = None) -> History:
    """The rows as lines, broken where rows are missing."""
    history = History([], {line: [] for line in SERIES})
    step_s = step_s or _usual_step([row["at"] for row in rows])
    for row in rows:
        at = row["at"].timestamp()
        if history.at and at - history.at[-1] > 2.5 * step_s:
            _append(history, history.at[-1] + step_s, {})
        _append(history, at, row)
    return history


def _append(history: History, at: float, row: dict[str, Any]) -> None:
    history.at.append(at)
    for line, values in history.lines.items():
        value = row.get(line)
        values.append(None if value is None else round(float(value), 2))


def _usual_step(times: list[datetime]) -> float:
    steps = [(b - a).total_seconds() for a, b in pairwise(times)]
    return max(1.0, median(steps)) if steps else 1.0
