"""Bodies that do almost nothing, so that only the cost of the engine is measured."""

import time

from qwf_agent import App

app = App()


@app.task("noop")
def noop() -> None:
    return None


@app.task("node")
def node(x: int = 0) -> dict[str, int]:
    """A node that reads the output of another one, and whose output other nodes read."""
    return {"x": 1}


@app.task("list")
def elements(count: int) -> dict[str, list[int]]:
    """Return the list that a map runs over."""
    return {"items": list(range(count))}


@app.task("stamp")
def stamp() -> dict[str, float]:
    """Return when the body started, by the clock that all processes of a machine share."""
    return {"started": time.time()}


@app.task("nap")
def nap(seconds: float) -> dict[str, float]:
    """Return the same, after sleeping for a while."""
    started = time.time()
    time.sleep(seconds)
    return {"started": started}
