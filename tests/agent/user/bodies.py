"""Tasks that end in every possible way."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import ctypes
import multiprocessing
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import types
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from qwf_agent import App, Checkpoint, PermanentError, Release, TemporaryError, Track
from qwf_agent.app import Job
from qwf_agent.child.messages import pack_answer
from qwf_agent.config import find_dsn

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


@app.around
def swallow(job: Job) -> Iterator[None]:
    """Catches what a body raises, as a log context without `raise` does, or raises another one."""
    what = job.labels.get("catch")
    try:
        yield
    except BaseException:
        if what == "translate":
            raise TemporaryError("as another one") from None
        if what != "swallow":
            raise


@app.task()
def noop() -> None:
    pass


@app.task()
def enqueue_another() -> dict[str, int]:
    """Enqueue a job over a connection of its own, with the login of the agent."""
    with psycopg.connect(find_dsn()) as conn:
        return {"child": noop.enqueue(conn)}


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
def writing_to_its_agent(data: str) -> None:
    """Writes bytes to every socket that it has: one leads to the agent."""
    for fd in range(3, 64):
        with contextlib.suppress(OSError):
            if stat.S_ISSOCK(os.fstat(fd).st_mode):
                os.write(fd, bytes.fromhex(data))
    time.sleep(0.05)


@app.task()
def answering_itself(report: str) -> None:
    """Sends the answer that its main loop would send, with another report."""
    frame = sys._getframe()
    while frame.f_code.co_name != "_run_one" and frame.f_back is not None:
        frame = frame.f_back
    ticket = frame.f_locals["work"].ticket
    answer = pack_answer(ticket, "completed", None, 0.0, False, bytes.fromhex(report))
    writing_to_its_agent(answer.hex())


def change_state(what: str) -> None:
    if what == "alarm":
        signal.alarm(1)
    elif what in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"):
        signal.setitimer(getattr(signal, what), 0.05, 0.05)
    elif what == "folder":
        os.chdir("/")
    elif what == "umask":
        os.umask(0o777)
    elif what == "mask":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGTERM})
    elif what == "handler":
        signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    elif what == "environment":
        os.environ.clear()
        os.environ["LEFT"] = "1"
    elif what == "recursion":
        sys.setrecursionlimit(80)
    elif what == "no streams":
        sys.stdout = sys.stderr = None  # type: ignore[assignment]
    elif what == "closed streams":
        sys.stdout.close()
        sys.stderr.close()
    elif what == "limit":
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    elif what == "module":
        os.environ["SET_BY_A_MODULE"] = "1"
        sys.modules["imported_by_a_body"] = types.ModuleType("imported_by_a_body")


@app.task()
def changing(what: str) -> dict[str, int]:
    """Changes the state of its process, and returns its pid."""
    change_state(what)
    return {"pid": os.getpid()}


@app.task()
def state() -> dict[str, Any]:
    """The state of its process, after some time and CPU time."""
    deadline = time.monotonic() + 0.2
    while time.monotonic() < deadline:
        pass
    print("printed")
    umask = os.umask(0o77)
    os.umask(umask)
    return {
        "pid": os.getpid(),
        "folder": str(Path.cwd()),
        "umask": umask,
        "mask": [int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())],
        "handler": str(signal.getsignal(signal.SIGUSR1)).partition(" at ")[0],
        "environment": dict(os.environ),
        "recursion": sys.getrecursionlimit(),
        "limit": resource.getrlimit(resource.RLIMIT_FSIZE)[0],
    }


@app.task()
def replacing_len() -> None:
    builtins.len = lambda _: 0  # type: ignore[assignment]


@app.task()
def short(stop: int = 0, kill: int = 0) -> None:
    """Does next to nothing: at most it stops a process, or kills its own."""
    if stop:
        os.kill(stop, signal.SIGSTOP)
    if kill:
        os.kill(os.getpid(), kill)


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
        "files": {"files": ["a.txt"]},
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
    elif what == "one endless line":
        for _ in range(2048):  # 128 MiB
            os.write(1, b"x" * 65536)
    elif what == "a progress bar":
        for percent in range(101):
            print(f"{percent} %", end="\r", flush=True)
    elif what == "subprocess":
        subprocess.run(["sh", "-c", "echo from a program; echo and its errors >&2"], check=True)
    else:
        print(what)


@app.task()
def dying_after_much_output() -> None:
    printing.function("much")
    os.kill(os.getpid(), signal.SIGKILL)


@app.task()
def sleeping(seconds: float) -> None:
    time.sleep(seconds)


@app.task(at_most_once=True)
def mailing(file: Path, seconds: float = 0) -> None:
    """Sends a mail, then sleeps."""
    with file.open("a") as sent:
        sent.write("sent\n")
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
def training(folder: Path, how: str, stopping: Any, job: Job) -> dict[str, Any]:
    """The first attempt saves when it is told to stop; the second one says where it went on."""
    checkpoint = folder / "checkpoint"
    if job.attempt > 1:
        return {"resumed_after": int(checkpoint.read_text()), "by_job": job.stopping()}
    (folder / "runs").write_text(str(os.getpid()))
    if how == "unasked":
        raise Release
    while not (job.stopping() if how == "by job" else stopping.wait(0.05)):
        time.sleep(0.01)
    checkpoint.write_text("1")
    (folder / "half").write_text(f"{stopping.reason} {stopping.left_s}")
    (folder / "half").rename(folder / "told")
    if how in ("ignore", "late"):
        time.sleep(600 if how == "ignore" else 2)
    raise Release("saved after step 1")


@app.task()
def blocking_signals(file: Path, seconds: float) -> dict[str, list[int]]:
    """Returns the signals that have come while it ran."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    try:
        file.touch()
        time.sleep(seconds)
        return {"pending": sorted(signal.sigpending())}
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
def saving(file: Path, text: str, hold: Path | None = None) -> None:
    """Writes when it begins and ends; in between it waits until `hold` is gone, then fails if that
    is called fail."""
    with file.open("a") as lines:
        lines.write(f"begin {text}\n")
    while hold is not None and hold.exists():
        time.sleep(0.01)
    with file.open("a") as lines:
        lines.write(f"end {text}\n")
    if hold is not None and hold.name == "fail":
        raise TemporaryError("the disk is full")


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
    ctypes.PyDLL(None).sleep(600)


@app.task()
def spinning(file: Path, status_callback: Any, in_program: bool = False) -> None:
    """Computes in C with the GIL held, or lets a program compute; reports progress once."""
    file.write_text(str(os.getpid()))
    beat(status_callback)
    if in_program:
        subprocess.run([sys.executable, "-c", "while True: pass"])
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
def keeping(out: Path, secret: str) -> dict[str, str]:
    """Does its work once: what lies in its folder is the result."""
    result = out / "result"
    if not result.exists():
        result.write_text(secret)
    return {"secret": result.read_text()}


@app.task()
def leaving_a_strange_folder(out: Path, what: str) -> None:
    if what == "circle":
        (out / "a").symlink_to("a")
        return
    shutil.rmtree(out)
    if what == "elsewhere":
        out.symlink_to(Path(__file__).parent)


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


def leave_a_fork(session: bool) -> int:
    """Leaves a copy of itself whose parent has ended; returns its pid."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        if session:
            os.setsid()
        if os.fork() == 0:
            os.write(writer, b"%d" % os.getpid())
            time.sleep(600)
        os._exit(0)
    os.wait()
    return int(os.read(reader, 100))


@app.task()
def returning_before_its_programs(how: str, fails: bool = False) -> dict[str, int]:
    """Ends while what it has started runs on; returns the pid of that."""
    if how == "program":
        pid = subprocess.Popen(["sleep", "600"]).pid
    elif how == "own session":
        pid = subprocess.Popen(["sleep", "600"], start_new_session=True).pid
    elif how == "daemon":
        start = "setsid sleep 600 < /dev/null > /dev/null 2>&1 & echo $!"
        pid = int(subprocess.run(["sh", "-c", start], capture_output=True, check=True).stdout)
        while Path(f"/proc/{pid}/comm").read_text().strip() != "sleep":  # it is sh or setsid yet
            time.sleep(0.01)
    elif how == "stubborn family":
        code = "trap '' TERM; sleep 600 & echo $!; wait"
        family = subprocess.Popen(["sh", "-c", code], stdout=subprocess.PIPE)
        assert family.stdout is not None
        pid = int(family.stdout.readline())
    elif how == "process":
        process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
        process.start()
        pid = process.pid or 0
    else:
        pid = leave_a_fork(session=how == "fork in its own session")
    if fails:
        raise ValueError(f"left {pid}")
    return {"pid": pid}


POOL = ProcessPoolExecutor(1, multiprocessing.get_context("fork"))  # its process starts later
PROGRAMS: list[subprocess.Popen[bytes]] = []


@app.task()
def using_a_pool() -> dict[str, int]:
    return {"pid": POOL.submit(os.getpid).result(), "child": os.getpid()}


@app.task()
def using_a_kept_program() -> dict[str, int]:
    if not PROGRAMS:
        PROGRAMS.append(subprocess.Popen(["sleep", "600"]))
    return {"pid": PROGRAMS[0].pid, "child": os.getpid()}


@app.task()
def talking(gates: list[str]) -> None:
    """Prints a word when each gate opens; ends after the last one."""
    for number, gate in enumerate([*gates, str(Path(gates[0]).with_name("gate end"))]):
        while not Path(gate).exists():
            time.sleep(0.01)
        print(f"word {number}")


@app.task()
def call(url: str, seconds: float = 0.005) -> None:
    """Call a server, and take a while for it."""
    with urllib.request.urlopen(url, timeout=10):
        time.sleep(seconds)


@app.task()
def epochs(folder: Path, last: int, job: Job, checkpoint: Checkpoint) -> dict[str, int]:
    """Trains from where an attempt before has come to; waits after three epochs for its gate."""
    done: int = checkpoint.value.get("epoch", 0)
    data = checkpoint.step("download", lambda: {"by": job.attempt})
    for epoch in range(done + 1, last + 1):
        checkpoint.save({"epoch": epoch})
        with (folder / "saved").open("a") as file:
            file.write(f"{job.attempt}:{epoch}\n")
        while epoch == done + 3 and not (folder / f"gate-{job.attempt}").exists():
            time.sleep(0.01)
    return {"downloaded_by": data["by"]}


@app.task()
def tracked_training(track: Track, out: Path, fails: bool) -> dict[str, int]:
    """Tracks its loss, leaves a file, and fails if it should."""
    for step in range(1200):
        track(loss=1 / (step + 1), step=step)
    track(accuracy=float("nan"))
    for number in range(20):
        track(**{f"n{number}": number})
    (out / "table.csv").write_text("a,b\n1,2\n")
    if fails:
        raise ValueError("no luck")
    return {}


@app.task()
def odd_checkpoints(checkpoint: Checkpoint) -> dict[str, Any]:
    """Saves what cannot be saved, and from a thread."""
    said = []
    for value in ([1], {"qwf.steps": {}}, {"x": {1, 2}}, {"x": float("nan")}, {"x": "\0"},
                  {"x": "\ud800"}, {"x": "x" * (1 << 20)}):  # fmt: skip
        try:
            checkpoint.save(value)  # type: ignore[arg-type]
        except ValueError as error:
            said.append(str(error))
    pair = checkpoint.step("pair", lambda: (1, Path("/a")))
    thread = threading.Thread(target=checkpoint.save, args=({"from": "thread"},))
    thread.start()
    thread.join()
    checkpoint.value["from"] = "nowhere"  # a copy
    again = checkpoint.step("pair", lambda: ("never",))
    return {"said": said, "pair": [pair, again], "value": checkpoint.value}


@app.task()
def saving_often(count: int, checkpoint: Checkpoint) -> dict[str, int]:
    """Saves again and again, and notes each save that has returned."""
    for number in range(count):
        checkpoint.save({"number": number})
        print(number, flush=True)
        time.sleep(0.02)
    return checkpoint.value


@app.task()
def streaming(
    job: Job, words: int, until: str = "", pause: float = 0.0, end: str = ""
) -> dict[str, Any]:
    """Streams words, and prints something else. Without a pause it streams all in one call."""
    while until and not Path(until).exists():
        time.sleep(0.01)
    said = [f"wört {number}, " for number in range(words)]
    for text in said if pause else ["".join(said)]:
        job.stream(text)
        time.sleep(pause)
    print("printed, not streamed")
    if end == "error" and job.attempt == 1:
        raise TemporaryError("once")
    if end == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"words": words}
