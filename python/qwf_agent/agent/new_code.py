"""Tries whether the code of the tasks can be imported, before children that have imported it are
replaced: code that cannot be imported would leave the agent without children."""

from __future__ import annotations

import json
import logging
import os
import sys
from contextlib import suppress
from pathlib import Path

from qwf_agent.agent.options import AgentOptions
from qwf_agent.child.outcome import clip, describe
from qwf_agent.child.tasks import IMPORT_S, CannotLoad, Tasks
from qwf_agent.system import gpu
from qwf_agent.system.fork import fork_helper
from qwf_agent.system.processes import kill_tree

log = logging.getLogger("qwf_agent")

MAX_ERROR = 4096  # bytes; a pipe holds more
SHOWN = 300  # letters of it in a heartbeat
AGAIN_S = (1.0, 60.0)  # first and longest wait before the next try


class NewCode:
    """Imports the code in a process of its own when it is asked to, and again until that works.

    Invariant: at most one such process runs. `problem` is why the children still run the old code,
    or None.
    """

    def __init__(self, options: AgentOptions) -> None:
        self.problem: str | None = None
        self._options = options
        self._pid = self._reader = 0
        self._give_up_at = self._at = float("inf")
        self._wait_s = AGAIN_S[0]

    def try_soon(self) -> None:
        """The code may have changed. If a try is under way, another one follows."""
        self._at, self._wait_s = 0.0, AGAIN_S[0]

    def step(self, now: float) -> bool:
        """Go on, without waiting; returns whether the children are to be replaced now."""
        if self._pid:
            return self._take_result(now)
        if now >= self._at:
            self._at = float("inf")
            if not (self._options.app or self._options.nodes):
                return True
            self._begin(now)
        return False

    def stats(self) -> dict[str, str]:
        """Returns the part of a heartbeat that says why the children run old code."""
        if self.problem is None:
            return {}
        return {"code_problem": self.problem.strip().partition("\n")[0][:SHOWN]}

    def next_at(self) -> float:
        """When there is something to do, unless the process ends first."""
        return self._give_up_at if self._pid else self._at

    def stop(self) -> None:
        """The agent stops: end the process, if there is one."""
        self._at = float("inf")
        if self._pid:
            kill_tree(self._pid)

    def _begin(self, now: float) -> None:
        self._reader, writer = os.pipe()
        try:
            self._pid = fork_helper(
                "qwf-new-code", lambda: _import(self._options, writer), [writer]
            )
        except OSError as error:
            os.close(self._reader)
            self._keep_old(f"cannot fork a process: {error}", now)
        else:
            self._give_up_at = now + IMPORT_S
        finally:
            os.close(writer)

    def _take_result(self, now: float) -> bool:
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0 and now < self._give_up_at:
            return False
        kill_tree(self._pid)  # what the import has started; the process too if it takes too long
        if pid == 0:
            os.waitpid(self._pid, 0)
        os.set_blocking(self._reader, False)
        answer = b""
        with suppress(BlockingIOError):  # something that it started has the pipe
            answer = os.read(self._reader, 1 << 16)
        os.close(self._reader)
        self._pid = 0
        if pid == 0:
            problem: str | None = f"importing it took more than {IMPORT_S:g} s"
        elif not answer:
            problem = f"its process died with exit code {os.waitstatus_to_exitcode(status)}"
        else:
            problem = json.loads(answer)
        if problem is not None:
            self._keep_old(problem, now)
            return False
        if self.problem is not None:
            log.info("the code of the tasks can be imported again: replacing the children")
        self.problem = None
        return True

    def _keep_old(self, problem: str, now: float) -> None:
        if problem != self.problem:
            log.error(
                "keeping the children with the old code, because the new code cannot be imported; "
                "it is tried again until it can: %s",
                problem,
            )
        self.problem = problem
        self._at = min(self._at, now + self._wait_s)
        self._wait_s = min(2 * self._wait_s, AGAIN_S[1])


def _import(options: AgentOptions, writer: int) -> None:
    """Import the code as a child does, and write to the pipe why it cannot, or null."""
    problem = None
    try:
        os.dup2(2, 1)
        os.environ.update(gpu.visible_devices(options.gpu))
        sys.path.insert(0, str(Path.cwd()))
        tasks = Tasks(options.app, options.nodes)
        declared = tasks.declared_options(), tasks.shapes(), tasks.model_needs()
        json.dumps([tasks.names(), *declared])
    except BaseException as error:
        problem = clip(str(error) if isinstance(error, CannotLoad) else describe(error), MAX_ERROR)
    os.write(writer, json.dumps(problem).encode())
