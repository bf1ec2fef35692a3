"""Draws a set of figures: one panel of bars per scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.samples import Figure, number

COLOURS = {
    "qwf": "#2f6f4f",
    "pgqueuer": "#b5651d",
    "graphile-worker": "#4a6fa5",
    "procrastinate": "#8a6d9b",
    "dbos": "#b5651d",
    "celery": "#4a6fa5",
    "prefect": "#8a6d9b",
}


def draw(found: list[Figure], facts: dict[str, Any], path: Path) -> None:
    """Draw the medians as bars, with the spread. Does nothing if matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    panels: dict[tuple[str, str], list[Figure]] = {}
    for figure in found:
        panels.setdefault((figure.scenario, figure.unit), []).append(figure)
    heights = [len(group) + 1.5 for group in panels.values()]
    picture, axes = plt.subplots(
        len(panels), 1, figsize=(10, 0.32 * sum(heights) + 1), squeeze=False,
        gridspec_kw={"height_ratios": heights},
    )  # fmt: skip
    for axis, ((scenario, unit), group) in zip(axes[:, 0], panels.items(), strict=True):
        names = [f"{one.figure} · {one.system}" for one in group]
        values = [one.median for one in group]
        spread = [
            [one.median - one.low for one in group],
            [one.high - one.median for one in group],
        ]
        colours = [COLOURS.get(one.system, "#777777") for one in group]
        bars = axis.barh(names, values, xerr=spread, color=colours, ecolor="#999999", height=0.7)
        axis.bar_label(bars, [f" {number(value)}" for value in values], fontsize=8)
        axis.invert_yaxis()
        axis.set_title(f"{scenario}, {unit}", loc="left", fontsize=10)
        axis.tick_params(labelsize=8)
        axis.spines[["top", "right"]].set_visible(False)
        axis.margins(x=0.12)
    picture.suptitle(f"PostgreSQL {facts['postgres']}, {facts['machine']}", fontsize=9, y=0.999)
    picture.tight_layout()
    picture.savefig(path, dpi=110)
    plt.close(picture)
