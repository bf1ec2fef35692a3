"""Puts back what a body has changed in its process, because the next body runs in the same one."""

from __future__ import annotations

import functools
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from operator import is_not
from typing import Any

from qwf_agent.child.job_output import open_output

# Each body passes here, and these cost a fifth of os.environ and of signal, which make enums.
ENVIRONMENT: dict[bytes, bytes] = vars(os.environ)["_data"]
SIGNAL: Any = vars(signal)["_signal"]
SIGNALS = (
    *(signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM),
    *(signal.SIGVTALRM, signal.SIGPROF, signal.SIGCHLD, signal.SIGPIPE),
)
LIMITS = (
    *(resource.RLIMIT_AS, resource.RLIMIT_CPU, resource.RLIMIT_CORE, resource.RLIMIT_DATA),
    *(resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC),
    resource.RLIMIT_STACK,
)


class LimitWatch:
    """Notes that a resource limit may have changed. To read all limits after each body would take
    eight system calls. It knows of the calls from Python only: C code may set one unseen.

    An audit hook would see these calls too, but with one each id() takes four times and
    copy.deepcopy 1.6 times as long, in all bodies.
    """

    def __init__(self) -> None:
        self.may_have_changed = False

    def watch(self) -> None:
        """From now on note the calls that set limits."""
        for name in ("setrlimit", "prlimit"):
            if hasattr(resource, name):  # prlimit: Linux only
                setattr(resource, name, self._noting(getattr(resource, name)))

    def _noting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noting(*args: Any) -> Any:
            self.may_have_changed = True
            return function(*args)

        return noting


class ProcessState:
    """The state of the process before a body.

    A body that imports a module may have changed the environment and the standard streams for good
    reason: the module may rely on it. So these two are put back only if nothing was imported.
    """

    def __init__(self, limits: LimitWatch) -> None:
        self.modules = len(sys.modules)
        self._limit_watch = limits
        self._environment = dict(ENVIRONMENT)
        self._streams = (sys.stdout, sys.stderr)
        self._folder = _folder()
        self._umask = os.umask(0o77)
        os.umask(self._umask)
        self._mask = SIGNAL.pthread_sigmask(signal.SIG_BLOCK, ())
        self._handlers = [SIGNAL.getsignal(number) for number in SIGNALS]
        self._limits = [resource.getrlimit(limit) for limit in LIMITS]
        self._recursion = sys.getrecursionlimit()

    def is_old(self) -> bool:
        """Return True if modules have been imported since."""
        return len(sys.modules) != self.modules

    def put_back(self) -> bool:
        """Put the state back; returns whether that was possible."""
        signal.alarm(0)
        if SIGNAL.pthread_sigmask(signal.SIG_BLOCK, ()) != self._mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)
        if any(map(is_not, map(SIGNAL.getsignal, SIGNALS), self._handlers)):
            self._put_back_handlers()
        if os.umask(self._umask) != self._umask:
            os.umask(self._umask)
        if sys.getrecursionlimit() != self._recursion:
            sys.setrecursionlimit(self._recursion)
        self._put_back_streams()
        if not self.is_old() and self._environment != ENVIRONMENT:
            self._put_back_environment()
        if self._limit_watch.may_have_changed:
            self._limit_watch.may_have_changed = False
            return self._put_back_folder() and self._put_back_limits()
        return self._put_back_folder()

    def _put_back_handlers(self) -> None:
        for number, handler in zip(SIGNALS, self._handlers, strict=True):
            if SIGNAL.getsignal(number) is not handler and handler is not None:
                signal.signal(number, handler)

    def _put_back_folder(self) -> bool:
        if self._folder is None or _folder() == self._folder:
            return True
        with suppress(OSError):
            os.chdir(self._folder)
            return True
        return False

    def _put_back_environment(self) -> None:
        before = {os.fsdecode(n): os.fsdecode(value) for n, value in self._environment.items()}
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)

    def _put_back_streams(self) -> None:
        now = sys.stdout, sys.stderr
        if now != self._streams and (None in now or not self.is_old()):
            sys.stdout, sys.stderr = self._streams
        if sys.stdout.closed or sys.stderr.closed:
            sys.stdout, sys.stderr = self._streams = open_output(1), open_output(2)

    def _put_back_limits(self) -> bool:
        if list(map(resource.getrlimit, LIMITS)) == self._limits:
            return True
        for limit, wanted in zip(LIMITS, self._limits, strict=True):
            if resource.getrlimit(limit) != wanted:
                try:
                    resource.setrlimit(limit, wanted)
                except (OSError, ValueError):  # only root may raise a hard limit
                    return False
        return True


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - Path.cwd() takes four times as long
    except OSError:  # it was removed
        return None
