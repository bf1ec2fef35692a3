"""python -m support.crossings --seconds 60 --seed 1 (part of make chaos)"""

from __future__ import annotations

import argparse
import contextlib
import sys

from qwf_agent import embedded, migrate
from support.crossings.place import Place, prepare
from support.crossings.searching import Search
from support.servers import own_server


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m support.crossings", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long it searches")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first array; then the next ones"
    )
    given = parser.parse_args()
    with own_server(embedded.binaries()) as server:
        assert server.cluster is not None
        server.cluster.ensure_database("qwf_crossings")
        dsn = server.dsn("qwf_crossings")
        migrate.deploy(dsn)
        prepare(dsn)
        with contextlib.closing(Place(dsn)) as place:
            search = Search(place, given.seed, given.seconds)
            for found in search.found():
                print(f"-- {found.finding}\n-- {found.history.choice}\n{found.text}", flush=True)
            print(
                f"{search.played} histories, {search.arrays} whole arrays, {place.calls}"
                f" calls, seed {given.seed}: {sum(search.counts.values()) or 'no'} findings"
            )
            for question, count in search.counts.items():
                print(f"  {count:>5}  {question}")
    return 1 if search.counts else 0


if __name__ == "__main__":
    sys.exit(main())
