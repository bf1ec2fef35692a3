"""Bodies that do nothing, or next to nothing: what is left is the engine."""

import time

from qwf_agent import App

app = App()


@app.task("noop")
def noop() -> None:
    return None


@app.task("node")
def node() -> dict[str, int]:
    """A node that others read from."""
    return {"x": 1}


@app.task("list")
def elements(count: int) -> dict[str, list[int]]:
    """The list a map runs over."""
    return {"items": list(range(count))}


@app.task("stamp")
def stamp() -> dict[str, float]:
    """When the body started, by the clock all processes of a machine share."""
    return {"started": time.time()}


@app.task("nap")
def nap(seconds: float) -> dict[str, float]:
    """The same, and then it takes a while."""
    started = time.time()
    time.sleep(seconds)
    return {"started": started}
