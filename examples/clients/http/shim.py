"""Lets programs without a Postgres connection enqueue: POST /enqueue and POST /runs.

Start it with: QWF_SHIM_TOKEN=secret QWF_DSN=... python shim.py [PORT]
The login in the DSN should be a member of qwf_producer only. Callers can enqueue, and nothing else.
"""

import hmac
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

CALLS = {
    "/enqueue": """
        select qwf.enqueue(
          r.task, coalesce(r.args, '{}'), coalesce(r.queue, 'default'), key => r.key)
        from jsonb_to_record(%s::jsonb) r (task text, args jsonb, queue text, key text)""",
    "/runs": """
        select qwf.enqueue_run(r.workflow, coalesce(r.context, '{}'), key => r.key)
        from jsonb_to_record(%s::jsonb) r (workflow text, context jsonb, key text)""",
}
KEYS = {"/enqueue": ["task", "args", "queue", "key"], "/runs": ["workflow", "context", "key"]}
UNKNOWN = "select key from jsonb_object_keys(%s::jsonb) key where key <> all (%s)"
LIMIT = 2 << 20  # bytes of a request


class Shim(BaseHTTPRequestHandler):
    timeout = 10  # seconds a caller has to send its request

    def do_POST(self) -> None:
        sent = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(sent, b"Bearer " + os.environ["QWF_SHIM_TOKEN"].encode()):
            return self.answer(401, {"error": "send the header Authorization: Bearer TOKEN"})
        length = self.headers.get("Content-Length", "")
        if self.path not in CALLS or not length.isdecimal() or int(length) > LIMIT:
            return self.answer(404, {"error": f"POST {' or '.join(CALLS)}, at most {LIMIT} bytes"})
        keys = KEYS[self.path]
        try:
            body = self.rfile.read(int(length)).decode()
            with psycopg.connect(os.environ["QWF_DSN"], connect_timeout=5) as conn:
                for (key,) in conn.execute(UNKNOWN, [body, keys]):
                    known = ", ".join(keys)
                    return self.answer(400, {"error": f"unknown key {key}; known: {known}"})
                [row] = conn.execute(CALLS[self.path], [body])
        except (psycopg.OperationalError, psycopg.InterfaceError):
            return self.answer(503, {"error": "no database: try again, which is safe with a key"})
        except (psycopg.Error, UnicodeDecodeError) as error:
            diag = getattr(error, "diag", None)
            fields = ("sqlstate", "message_detail", "message_hint")
            more = {field: getattr(diag, field, None) for field in fields}
            return self.answer(400, {"error": getattr(diag, "message_primary", str(error)), **more})
        return self.answer(201, {"id": row[0]})

    def answer(self, status: int, body: dict[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int((sys.argv[1:] or ["8080"])[0])), Shim)
    print("listening on port", server.server_port, flush=True)
    server.serve_forever()
