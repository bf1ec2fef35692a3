"""A module that imports slowly, like one that imports torch."""

import time

time.sleep(1.5)


def run() -> dict[str, int]:
    return {"x": 1}
