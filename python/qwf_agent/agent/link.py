"""A database connection for a select loop. It connects, sends and receives without blocking, and
has a deadline for each, so a slow or half-open server cannot keep the agent from reaping and
killing its children."""

from __future__ import annotations

import logging
import selectors
import time
from collections import deque
from typing import NamedTuple

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer
from psycopg.conninfo import make_conninfo
from psycopg.pq.abc import PGconn, PGresult

from qwf_agent.agent.calls import Failure, Notification, SentCall, failure_of
from qwf_agent.agent.db import Param, Query
from qwf_agent.agent.jitter import spread
from qwf_agent.agent.loaders import LOADERS
from qwf_agent.agent.statements import Statements

log = logging.getLogger("qwf_agent")

NOT_TEXT = "22021"  # character_not_in_repertoire: what the server would answer
# SET takes the server a third of the time of a SELECT of set_config. The role or the database may
# have other styles, which the loaders could not read.
DURABLE = (
    b"set transaction isolation level read committed; "  # the others make agents wait and retry
    b"set local statement_timeout = %d; set local intervalstyle = postgres; "
    b"set local datestyle = iso; "
)
NO_WAIT = b"set local synchronous_commit = off; "
# The same for the whole session, if it belongs to this connection. It does if the server process
# that answers is the one that has greeted: a pooler has no process for a client, and makes up a
# number. Then the settings are those of this transaction only.
TAKE_SESSION = (
    "select pg_backend_pid() = {} as is_ours, set_config('statement_timeout', {}, theirs),"
    " set_config('default_transaction_isolation', 'read committed', theirs),"
    " set_config('intervalstyle', 'postgres', theirs), set_config('datestyle', 'iso', theirs)"
    " from (select pg_backend_pid() <> {} as theirs) as session"
)
# What a server reports when a session begins, as it does the encoding.
READ_ONLY = (b"in_hot_standby", b"default_transaction_read_only")
CONNECT_S = 10.0  # longest wait for a connection
RETRY_S = (0.1, 5.0)  # first and longest wait between two tries; it doubles each time
KEEPALIVE: dict[str, int] = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class Link:
    """One connection: sends calls one after another, and reconnects by itself.

    Invariant: a call ends, with rows or a failure, at most `deadline_s` after it was sent.
    """

    def __init__(
        self,
        dsn: str,
        name: str,
        selector: selectors.BaseSelector,
        deadline_s: float,
        prepare: bool = True,
    ) -> None:
        """Without `prepare`, the session is shared with others: nothing may stay in it. With it,
        statements are prepared, and if the session belongs to this connection alone, it gets the
        settings of all calls once."""
        self._conninfo = make_conninfo(
            dsn, application_name=name, client_encoding="UTF8", **KEEPALIVE
        ).encode()
        self._deadline_s = deadline_s
        self._selector = selector
        self.up = False
        self.connects = 0  # number of connections so far
        self.trouble: Failure | None = None
        self.notifications: deque[Notification] = deque()
        self._channels: list[str] = []
        self._conn: PGconn | None = None
        self._fd = -1
        self._events = 0  # events watched on the socket
        self._calls: deque[SentCall] = deque()
        self._result: PGresult | None = None  # of the last complete statement
        self._transformer = Transformer(LOADERS)
        self._statement_ms = int(deadline_s * 900)
        self._taking: SentCall | None = None  # the session
        self._is_ours = False  # the session, which has the settings of all calls
        self._prepare = prepare
        self._statements = Statements(prepare)
        self._wait_s = RETRY_S[0]
        self._next_at = 0.0  # when to try again, or to give up connecting
        self.unanswered = 0  # how often a connected server did not answer in time

    def send(self, query: Query) -> SentCall:
        """Queue a call. Fails at once while the link is down."""
        call = SentCall(query)
        if not self.up:
            call.fail(Failure("no connection to the database", lost=True))
            return call
        self._calls.append(call)
        if len(self._calls) == 1:
            self._start()
        return call

    @property
    def idle(self) -> bool:
        """True if a call would be sent at once."""
        return self.up and not self._calls

    def listen(self, channel: str) -> SentCall:
        """LISTEN on the channel, now and after every reconnect. Notifications go to
        `notifications`."""
        if channel not in self._channels:
            self._channels.append(channel)
        return self.send(Query(f'listen "{channel}"'))

    def step(self, now: float) -> None:
        """Act on deadlines: reconnect, or give up on a server that does not answer."""
        if self._conn is None and now >= self._next_at:
            self._connect(now)
        elif self._conn is None:
            return
        elif not self.up and now >= self._next_at:
            self._lose(f"no connection within {CONNECT_S:g} s")
        elif self._calls and now >= (self._calls[0].deadline or now + 1):
            self.unanswered += 1
            self._lose(f"no answer within {self._deadline_s:g} s")

    def expect_answer_within(self, seconds: float) -> None:
        """Shorten the deadline of the call under way, because this connection may be dead."""
        if self._calls and self._calls[0].deadline is not None:
            deadline = time.monotonic() + seconds
            self._calls[0].deadline = min(self._calls[0].deadline, deadline)

    def next_at(self) -> float:
        """When `step` has something to do, unless an event comes first."""
        if self.up:
            return (self._calls[0].deadline if self._calls else None) or float("inf")
        return self._next_at

    def ready(self) -> bool:
        """Read from or write to the socket, which is ready; returns whether that was only a part of
        an answer or a question, which is of no use to anybody yet."""
        try:
            if self.up:
                return self._receive()
            self._connecting()
        except psycopg.Error as error:
            self._lose(str(error))
        return False

    def close(self) -> None:
        """Close the connection for good; calls under way fail."""
        self._lose("closed")
        self._next_at = float("inf")

    def _session(self) -> PGconn:
        if self._conn is None:
            raise psycopg.OperationalError("no connection")
        return self._conn

    def _connect(self, now: float) -> None:
        self._next_at = now + CONNECT_S
        self._conn = pq.PGconn.connect_start(self._conninfo)
        self._conn.notice_handler = _notice
        try:
            self._connecting()
        except psycopg.Error as error:
            self._lose(str(error))

    def _connecting(self) -> None:
        conn = self._session()
        bad = conn.status == pq.ConnStatus.BAD
        state = pq.PollingStatus.FAILED if bad else conn.connect_poll()
        if state == pq.PollingStatus.FAILED:
            raise psycopg.OperationalError(_message(conn))
        if state == pq.PollingStatus.OK:
            _refuse_read_only(conn)
            self._greet(conn)
        else:
            reading = state == pq.PollingStatus.READING
            self._watch(conn, selectors.EVENT_READ if reading else selectors.EVENT_WRITE)

    def _greet(self, conn: PGconn) -> None:
        conn.nonblocking = 1
        self.up, self.trouble, self._wait_s = True, None, RETRY_S[0]
        self.connects += 1
        self._watch(conn, selectors.EVENT_READ)
        if self._prepare:
            number = conn.backend_pid
            self._taking = self.send(Query(TAKE_SESSION, (number, str(self._statement_ms), number)))
        for channel in self._channels:
            self.send(Query(f'listen "{channel}"'))

    def _start(self) -> None:
        """Send the first call that can be sent; those before it fail."""
        conn = self._session()
        while self._calls:
            call = self._calls[0]
            call.deadline = time.monotonic() + self._deadline_s
            try:
                statement = self._render(call.query, conn)
            except (psycopg.Error, UnicodeError) as error:  # such as bytes that are not UTF-8
                log.warning("cannot send %s: %s", call.query.text, error)
                self._calls.popleft().fail(Failure(f"cannot be sent: {error}", NOT_TEXT))
                continue
            try:
                conn.send_query(statement)
                self._flush(conn)
            except psycopg.Error as error:
                self._lose(str(error))
            return

    def _render(self, query: Query, conn: PGconn) -> bytes:
        """The statement with its parameters as literals, preceded by the settings that it needs.

        Statements that are sent together are one transaction and one round trip. SET LOCAL leaves
        no trace in a session that behind a pooler may serve another client next. The server stops
        a statement just before this side would give up on it.
        """
        settings = b"" if self._is_ours else DURABLE % self._statement_ms
        if query.soft:
            settings += NO_WAIT
        literals = [_literal(param, conn) for param in query.params]
        return settings + self._statements.render(query, literals)

    def _flush(self, conn: PGconn) -> None:
        pending = conn.flush() == 1
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if pending else 0)
        if self._events != events:
            self._events = events
            self._selector.modify(self._fd, events, self.ready)

    def _receive(self) -> bool:
        conn, calls = self._session(), len(self._calls)
        self._flush(conn)
        conn.consume_input()
        while self._calls and not conn.is_busy():
            result = conn.get_result()
            if conn.status == pq.ConnStatus.BAD:
                raise psycopg.OperationalError(_message(conn))
            if result is None:
                self._finish()
            else:
                self._take(result)
        while notification := conn.notifies():
            channel, payload = notification.relname, notification.extra
            self.notifications.append(
                Notification(channel.decode(errors="replace"), payload.decode(errors="replace"))
            )
        return len(self._calls) == calls and not self.notifications

    def _take(self, result: PGresult) -> None:
        """Take the result of one statement. The last one of those sent together is the call's."""
        self._result = None
        if result.status == pq.ExecStatus.TUPLES_OK:
            self._result = result
        elif result.status in (pq.ExecStatus.FATAL_ERROR, pq.ExecStatus.NONFATAL_ERROR):
            self._calls[0].failure = failure_of(result)

    def _finish(self) -> None:
        failure, text = self._calls[0].failure, self._calls[0].query.text
        if failure is not None and self._statements.take_failure(text, failure.sqlstate):
            self._calls[0].failure = None
            self._start()
            return
        call, result, self._result = self._calls.popleft(), self._result, None
        try:
            if result is not None:
                self._load(call, result)
        except Exception as error:  # whatever it is, someone waits for the end of this call
            log.warning("cannot read the answer to %s: %s", call.query.text, error)
            call.failure = Failure(f"the answer cannot be read: {error}", unreadable=True)
        call.done = True
        if call is self._taking:
            self._is_ours, self._taking = call.value() is True, None
        self._start()

    def _load(self, call: SentCall, result: PGresult) -> None:
        columns = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
        self._transformer.set_pgresult(result)
        try:
            call.records = self._transformer.load_rows(0, result.ntuples, tuple)
        finally:
            self._transformer.set_pgresult(None)  # else the result would stay in memory
        call.columns = columns

    def _lose(self, why: str) -> None:
        """Drop the connection, fail what was under way, and try again later."""
        failure = Failure(why.strip() or "connection lost", lost=True)
        if self._fd >= 0:
            self._selector.unregister(self._fd)
        if self._conn is not None:
            self._conn.finish()
        self._conn, self._fd, self.up, self._result = None, -1, False, None
        self._is_ours, self._taking = False, None
        self._statements = Statements(self._prepare)
        self.trouble = failure
        calls, self._calls = self._calls, deque()
        for call in calls:
            call.fail(failure)
        self._next_at = time.monotonic() + spread(self._wait_s)
        self._wait_s = min(self._wait_s * 2, RETRY_S[1])

    def _watch(self, conn: PGconn, events: int) -> None:
        """Register the socket again each time: libpq may have closed it and opened another one with
        the same number."""
        if self._fd >= 0:
            self._selector.unregister(self._fd)
        self._fd, self._events = conn.socket, events
        self._selector.register(self._fd, events, self.ready)


class Links(NamedTuple):
    """The connections of an agent to one database: `soft` for calls that commit without waiting
    for the disk, `durable` for the others, `listener` for LISTEN. The listener is the soft link,
    unless --listen-dsn names another address."""

    soft: Link
    durable: Link
    listener: Link


def _literal(param: Param, conn: PGconn) -> bytes:
    if param is None:
        return b"null"
    if isinstance(param, (int, float)):
        return str(param).encode()
    text = param if isinstance(param, bytes) else param.encode()
    return bytes(pq.Escaping(conn).escape_literal(text))


def _notice(result: PGresult) -> None:
    log.warning("notice from the database: %s", failure_of(result))


def _refuse_read_only(conn: PGconn) -> None:
    """Raise psycopg.OperationalError for a server that takes no writes, as it says when a session
    begins: during a failover the next try may reach the primary. A pooler may not say it."""
    if not any(conn.parameter_status(name) == b"on" for name in READ_ONLY):
        return
    if conn.parameter_status(READ_ONLY[0]) == b"on":
        raise psycopg.OperationalError(
            "this server takes no writes, as a standby does: use the address of the primary, or one"
            " that names all servers and has target_session_attrs=read-write"
        )
    raise psycopg.OperationalError(
        "this server takes no writes, because default_transaction_read_only is on for this login:"
        " reset it where it was set (alter role, alter database or alter system); qwf doctor says"
        " where"
    )


def _message(conn: PGconn) -> str:
    return str(conn.error_message.decode(errors="replace")).strip()
