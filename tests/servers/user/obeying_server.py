"""A server that says it is healthy and serves `tiny`; files in the folder of the first argument say
how it misbehaves. The second argument is its port.

Its /sleep, /wake_up and /is_sleeping stand for those of vLLM, which has them on a card only: they
are there if VLLM_SERVER_DEV_MODE is 1, answer 200 with no body, and /health answers 200 during
sleep, too.
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])
asleep = False


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        while (FOLDER / "deaf").exists():
            time.sleep(0.01)
        if self.path == "/is_sleeping":
            self.answer({"is_sleeping": asleep})
        else:
            self.answer({"data": [{"id": "tiny"}]})

    def do_POST(self) -> None:
        """Sleep or wake up, unless a file of that name forbids it or lets it take for ever."""
        global asleep
        name = self.path.partition("?")[0].strip("/")
        while (FOLDER / f"never {name}").exists():
            time.sleep(0.01)
        allowed = os.environ.get("VLLM_SERVER_DEV_MODE") == "1" and not (FOLDER / name).exists()
        if allowed and self.path in ("/sleep?level=1", "/wake_up"):
            asleep = name == "sleep"
            self.answer(None)
        else:
            self.send_error(404)

    def answer(self, said: object) -> None:
        body = b"" if said is None else json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if (FOLDER / "dead").exists():
    sys.exit("dead")
if (FOLDER / "stubborn").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
