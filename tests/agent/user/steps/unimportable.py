"""A node whose module does not import."""

import there_is_no_such_module  # type: ignore[import-not-found]  # noqa: F401


def run() -> None:
    pass
