"""An agent sees how a process of its server ends."""

from __future__ import annotations

import os
import signal
import time

from qwf_agent.system.processes import is_exiting
from support.harness import until


def test_a_process_that_was_killed_is_exiting_until_it_is_waited_for() -> None:
    pid = os.fork()
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    try:
        assert not is_exiting(pid)
        os.kill(pid, signal.SIGKILL)
        until(lambda: is_exiting(pid), "the end")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert not is_exiting(pid), "nobody is there"
