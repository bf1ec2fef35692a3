"""A server that says it is healthy and serves `tiny`; files in the folder of the first argument say
how it misbehaves. The second argument is its port."""

from __future__ import annotations

import http.server
import json
import signal
import sys
import time
from pathlib import Path

FOLDER = Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        while (FOLDER / "deaf").exists():
            time.sleep(0.01)
        body = json.dumps({"data": [{"id": "tiny"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if (FOLDER / "dead").exists():
    sys.exit("dead")
if (FOLDER / "stubborn").exists():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
