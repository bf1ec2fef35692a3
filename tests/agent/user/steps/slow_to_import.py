"""A module that takes its time, as those do that import torch."""

import time

time.sleep(1.5)


def run() -> dict[str, int]:
    return {"x": 1}
