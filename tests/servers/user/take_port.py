"""Becomes the server of the last arguments. When the file of the first argument does not exist yet,
another process listens on the port of the second one by then."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

mark, port, *argv = sys.argv[1:]
if not Path(mark).exists():
    Path(mark).touch()
    taken = socket.create_server(("127.0.0.1", int(port)))
    if os.fork() == 0:
        time.sleep(3600)
os.execv(argv[0], argv)
