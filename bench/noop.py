"""A task that does nothing: what is left is the engine."""

from qwf_agent import App

app = App()


@app.task("noop")
def noop() -> None:
    return None
