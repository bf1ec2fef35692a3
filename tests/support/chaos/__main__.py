"""python -m support.chaos --seconds 60 --seed 1 (make chaos SECONDS=60 SEED=1)"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from qwf_agent import embedded, migrate
from support.chaos.faults import KINDS
from support.chaos.place import Place, place
from support.chaos.plan import plan
from support.chaos.report import lines
from support.chaos.run import run
from support.disks import small_disk
from support.planted_bugs import BUGS, put_in
from support.servers import own_server

DATA_DISK, OUT_DISK = "1g", "24m"


def main() -> int:
    given = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was started ends with us
    if given.plan:
        for planned in itertools.islice(plan(given.seed, given.only or list(KINDS)), given.plan):
            print(planned)
        return 0
    home = Path(tempfile.mkdtemp(prefix="qwf-chaos-"))
    home.chmod(0o755)
    log = home / "faults.log"
    print(f"{log} has every fault", flush=True)
    with _own_place(home) as found, log.open("a", buffering=1) as written:

        def say(line: str) -> None:
            written.write(f"{line}\n")

        if given.bug:
            put_in(found.dsn, *BUGS[given.bug])
        if found.data_disk is None:
            say("not root: outputs get a limit of size instead of a full disk, the server neither")
        result = run(found, seconds=given.seconds, seed=given.seed, say=say, kinds=given.only)
        for line in lines(result, log):
            print(line)
            say(line)
    if result.held and not given.keep:
        shutil.rmtree(home)
    return 0 if result.held else 1


@contextlib.contextmanager
def _own_place(home: Path) -> Iterator[Place]:
    """A server and disks of its own, that are gone afterwards."""
    with (
        small_disk(home / "data", DATA_DISK) as data_disk,
        small_disk(home / "out", OUT_DISK) as out_disk,
        own_server(embedded.binaries(), home / "data") as server,
    ):
        dsn = server.dsn("qwf_chaos")
        assert server.cluster is not None
        server.cluster.ensure_database("qwf_chaos")
        migrate.deploy(dsn)
        with place(server, dsn, home, data_disk, out_disk) as made:
            yield made


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    add = parser.add_argument
    add("--seconds", type=float, default=60.0, help="how long faults strike")
    add("--seed", type=int, default=1, help="of the plan; the same seed gives the same plan")
    add(
        "--only",
        action="append",
        metavar="KIND",
        choices=list(KINDS),
        help="only this kind of fault; repeatable",
    )
    add("--plan", type=int, metavar="N", help="print the first N faults of the plan and stop")
    add(
        "--bug",
        metavar="BUG",
        choices=list(BUGS),
        help="put this bug into the engine first, to see it found",
    )
    add("--keep", action="store_true", help="keep notes and logs also if everything held")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
