"""Tasks that end in every possible way."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from qwf_agent import App, PermanentError, TemporaryError
from qwf_agent.app import Job

app = App()
IMPORTED_BY = os.environ.get("IMPORTED_BY")
if IMPORTED_BY:
    with open(IMPORTED_BY, "a") as marks:
        marks.write(f"{os.getpid()}\n")


@app.around
def announce(job: Job) -> Iterator[None]:
    if job.labels.get("announce"):
        print(f"before {job.id}")
        try:
            yield
        finally:
            print(f"after {job.id}")
    else:
        yield


@app.task()
def noop() -> None:
    pass


@app.task()
def add(a: int, b: int = 2) -> dict[str, int]:
    return {"sum": a + b}


@app.task("greet", queue="cpu", max_attempts=2, timeout=30)
def say_hello(who: str) -> dict[str, str]:
    return {"text": f"hello {who}"}


@app.task()
async def later(x: int) -> dict[str, int]:
    await asyncio.sleep(0.001)
    return {"x": x}


@app.task()
def raising(kind: str) -> None:
    errors = {"value": ValueError, "temporary": TemporaryError, "permanent": PermanentError}
    raise errors[kind]("as asked")


@app.task()
def raising_nul() -> None:
    raise ValueError("a\0b \ud800 c")


@app.task()
def system_exit(code: Any) -> None:
    sys.exit(code)


@app.task()
def hard_exit(code: int) -> None:
    os._exit(code)


@app.task()
def die(number: int) -> None:
    print("last words")
    os.kill(os.getpid(), number)


@app.task()
def returning(what: str) -> Any:
    deep: Any = {}
    if what == "deep":
        for _ in range(50_000):
            deep = {"d": deep}
    return {
        "list": [1],
        "text": "x",
        "set": {"x": {1}},
        "nan": {"x": float("nan")},
        "infinity": {"x": float("inf")},
        "nul": {"x": ["a\0b"]},
        "nul key": {"a\0": 1},
        "escaped": {"x": "\\u0000"},
        "surrogate": {"x": "\ud800"},
        "10 MB": {"x": "y" * 10_000_000},
        "path": {"x": Path("/a/b")},
        "deep": deep,
    }[what]


@app.task()
def returning_a_number_postgres_refuses() -> dict[str, int]:
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    return {"x": 10**140_000}


@app.task()
def printing(what: str) -> None:
    if what == "binary":
        os.write(1, bytes(range(256)))
    elif what == "much":
        for number in range(100_000):
            print("line", number)
    elif what == "subprocess":
        subprocess.run(["sh", "-c", "echo from a program; echo and its errors >&2"], check=True)
    else:
        print(what)


@app.task()
def sleeping(seconds: float) -> None:
    time.sleep(seconds)


@app.task()
def telling(file: Path, seconds: float) -> None:
    """Writes its pid, then sleeps."""
    file.write_text(str(os.getpid()))
    time.sleep(seconds)


@app.task()
def with_grandchild(file: Path, seconds: float = 0) -> None:
    child = subprocess.Popen(["sleep", "600"])
    file.write_text(str(child.pid))
    time.sleep(seconds)


@app.task()
def stubborn(file: Path) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    file.write_text(str(os.getpid()))
    while True:
        time.sleep(1)


@app.task()
def cooperative(file: Path, cancel_event: Any) -> dict[str, str]:
    file.write_text("started")
    assert cancel_event.wait(60)
    file.write_text("told to stop")
    return {"said": "something"}


@app.task()
def counting(steps: int, status_callback: Any, file: Path) -> None:
    for step in range(1, steps + 1):
        status_callback(step / steps / 2, f"step {step}")
    while not file.exists():
        time.sleep(0.01)


@app.task()
def forking() -> dict[str, int]:
    if os.fork() == 0:
        return {"who": 2}
    os.wait()
    return {"who": 1}


@app.task()
def whoami(cancel_event: Any) -> dict[str, Any]:
    main = threading.current_thread() is threading.main_thread()
    return {"pid": os.getpid(), "parent": os.getppid(), "main": main, "set": cancel_event.is_set()}


@app.task()
def attempts_file(file: Path, fail: int) -> dict[str, int]:
    """Fails `fail` times, then completes."""
    with file.open("a") as lines:
        lines.write("x")
    if file.stat().st_size <= fail:
        raise TemporaryError("not yet")
    return {"tries": file.stat().st_size}


@app.task()
def mark(folder: Path, name: str) -> None:
    with (folder / name).open("a") as lines:
        lines.write("x")


def beat(status_callback: Any, times: int = 1) -> None:
    for _ in range(times):
        status_callback(0.1, "begun")


@app.task()
def silent(file: Path, status_callback: Any, beats: int = 1) -> None:
    """Reports progress, then hangs."""
    file.write_text(str(os.getpid()))
    beat(status_callback, beats)
    time.sleep(600)


@app.task()
def holding_the_gil(file: Path, status_callback: Any) -> None:
    """Hangs in C with the GIL held: no other thread and no signal handler runs."""
    file.write_text(str(os.getpid()))
    beat(status_callback)
    re.match(r"(a+)+$", "a" * 64 + "b")


@app.task()
def ignoring_signals(file: Path, status_callback: Any) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)
    file.write_text(str(os.getpid()))
    beat(status_callback)
    while True:
        time.sleep(600)


@app.task()
def stopping_itself(file: Path, status_callback: Any) -> None:
    file.write_text(str(os.getpid()))
    beat(status_callback)
    os.kill(os.getpid(), signal.SIGSTOP)


@app.task()
def with_family(file: Path, status_callback: Any) -> None:
    """Starts a program in its own session, and waits for it."""
    program = subprocess.Popen(["sleep", "600"], start_new_session=True)
    file.write_text(f"{os.getpid()} {program.pid}")
    beat(status_callback)
    program.wait()


@app.task()
def slow_but_alive(status_callback: Any, steps: int, seconds: float) -> dict[str, int]:
    for step in range(steps):
        status_callback(step / steps)
        time.sleep(seconds)
    return {"steps": steps}


@app.task()
def growing(file: Path, megabytes: int, in_program: bool = False) -> None:
    """Allocates memory, itself or in a program that it starts, and keeps it."""
    if in_program:
        code = f"import time; x = b'x' * ({megabytes} << 20); time.sleep(600)"
        program = subprocess.Popen([sys.executable, "-c", code])
        file.write_text(str(program.pid))
        program.wait()
    file.write_text(str(os.getpid()))
    kept = b"x" * (megabytes << 20)
    time.sleep(600)
    del kept


@app.task()
def leaking(megabytes: int) -> dict[str, int]:
    """Leaves memory behind in its process."""
    LEAK.append(b"x" * (megabytes << 20))
    return {"pid": os.getpid()}


LEAK: list[bytes] = []


@app.task()
def writing(out: Path, megabytes: int) -> None:
    (out / "file").write_bytes(b"x" * (megabytes << 20))


@app.task()
def starting_a_program(file: Path) -> None:
    """Starts a program that stays in its group and outlives a killed parent."""
    program = subprocess.Popen(["sh", "-c", "sleep 600; true"])
    file.write_text(f"{os.getpid()} {program.pid}")
    program.wait()


@app.task()
def leaving_a_program(file: Path) -> None:
    """Starts a program in its own session through another one that ends, and keeps running."""
    start = "setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $!"
    said = subprocess.run(["sh", "-c", start], capture_output=True, check=True).stdout
    file.write_text(f"{os.getpid()} {int(said)}")
    time.sleep(600)


@app.task()
def leaving_a_fork(file: Path) -> None:
    """Leaves a copy of itself in its own session whose parent has ended, and keeps running."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.write(writer, b"%d" % os.getpid())
            time.sleep(600)
        os._exit(0)
    os.wait()
    file.write_text(f"{os.getpid()} {int(os.read(reader, 100))}")
    time.sleep(600)


@app.task()
def talking(gates: list[str]) -> None:
    """Prints a word when each gate opens; ends after the last one."""
    for number, gate in enumerate([*gates, str(Path(gates[0]).with_name("gate end"))]):
        while not Path(gate).exists():
            time.sleep(0.01)
        print(f"word {number}")
