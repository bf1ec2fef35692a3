"""Sends a message as mail: encrypted, and so that mail programs keep the messages of an alert
together and answer none of them by themselves."""

from __future__ import annotations

import base64
import hashlib
import smtplib
import socket
import ssl
import threading
import time
from contextlib import suppress
from dataclasses import replace
from email import policy
from email.header import Header
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import urlsplit

from qwf_agent.app import Checkpoint, PermanentError, TemporaryError
from qwf_agent.hooks.guarded_http import within
from qwf_agent.receivers import text
from qwf_agent.receivers.config import Receiver, user_of
from qwf_agent.receivers.question_links import link_for

SEND_S = 120.0  # for a message, whatever its server does; the job has 5 minutes
TIMEOUT_S = 30.0  # without a word from the server
SERVED = "served"  # in a checkpoint: the recipients that have the mail
NAME_S = 5.0  # for the name of this box
AUTHENTICATION = 535
NEEDS_UTF8 = b"an address that is not ASCII needs SMTPUTF8, which the mail server does not offer"
SIGNED_IN = (235, 503)  # 503: before
AS_BUILT = policy.default.clone(refold_source="none")  # no header is parsed when it is written


def send(receiver: Receiver, message: text.Message, checkpoint: Checkpoint | None = None) -> None:
    """Send the message to each recipient; the same message has the same Message-ID in each try.
    If the server refuses some recipients, the others get it all the same. The checkpoint keeps who
    has it, and the next try leaves them out. Raises TemporaryError, PermanentError."""
    ends = time.monotonic() + SEND_S
    served = set(checkpoint.value.get(SERVED, ())) if checkpoint is not None else set()
    own_name = _own_name()
    receiver = replace(receiver, to=tuple(map(in_ascii, receiver.to)))
    sender = in_ascii(receiver.sender or f"qwf@{own_name}")
    mails = _mails(receiver, message, sender)
    server = urlsplit(receiver.smtp)
    refused: dict[str, tuple[int, bytes]] = {}
    try:
        with _connect(receiver, own_name, ends) as smtp:
            password = receiver.password()
            if password is not None:
                _sign_in(smtp, user_of(receiver.smtp), password)
            for recipients, mail in mails:
                to = [one for one in recipients if _mark(one) not in served]
                if not to:
                    continue
                not_these = _hand_over(smtp, mail, sender, to)
                if time.monotonic() >= ends:  # what was cut looks like the end of a reply
                    raise TimeoutError
                refused |= not_these
                served |= {_mark(one) for one in to if one not in not_these}
                if checkpoint is not None:  # now: this process may die before the next mail
                    checkpoint.save({SERVED: sorted(served)})
        if refused:
            raise smtplib.SMTPRecipientsRefused(refused)
    except (OSError, UnicodeError, smtplib.SMTPException) as error:
        late = time.monotonic() >= ends
        fatal, said = (False, f"not sent within {SEND_S:g} s") if late else _judged(error)
        raise (PermanentError if fatal else TemporaryError)(f"{said} ({server.hostname})") from None


def in_ascii(address: str) -> str:
    """The address with the name of its host as mail servers write it: only the part before the @
    may need a server that knows SMTPUTF8."""
    name, _, host = address.rpartition("@")
    return f"{name}@{host if host.isascii() else host.encode('idna').decode()}"


def _sign_in(smtp: smtplib.SMTP, user: str, password: str) -> None:
    """Sign in. smtplib knows only ASCII; the rest goes as UTF-8, as RFC 4616 says of AUTH PLAIN.
    Raises PermanentError if the server does not offer that."""
    smtp.ehlo_or_helo_if_needed()
    if (user + password).isascii() or not smtp.has_extn("auth"):
        smtp.login(user, password)
        return
    if "PLAIN" not in smtp.esmtp_features["auth"].upper().split():
        which = "password" if user.isascii() else "user"
        raise PermanentError(
            f"the {which} is not ASCII: that needs AUTH PLAIN, which the mail server does not offer"
        )
    said = base64.b64encode(f"\0{user}\0{password}".encode()).decode()
    code, answer = smtp.docmd("AUTH", f"PLAIN {said}")
    if code not in SIGNED_IN:
        raise smtplib.SMTPAuthenticationError(code, answer)


def _hand_over(
    smtp: smtplib.SMTP, mail: EmailMessage, sender: str, to: list[str]
) -> dict[str, tuple[int, bytes]]:
    """Send a mail; returns the recipients that the server refused, with its codes."""
    smtp.ehlo_or_helo_if_needed()
    refused: dict[str, tuple[int, bytes]] = {}
    if not smtp.has_extn("smtputf8"):
        refused = {one: (553, NEEDS_UTF8) for one in to if not one.isascii()}
        to = [one for one in to if one.isascii()]
        if not to:
            return refused
        mail.replace_header("To", ", ".join(to))
    try:
        return refused | smtp.send_message(mail, sender, to)
    except smtplib.SMTPRecipientsRefused as error:  # all of them
        return refused | error.recipients


def _mark(recipient: str) -> str:
    """A hash that stands for a recipient in a checkpoint: addresses stay on this box."""
    return hashlib.sha256(recipient.encode()).hexdigest()[:16]


def _judged(error: OSError | UnicodeError | smtplib.SMTPException) -> tuple[bool, str]:
    """True if another try cannot help, and what to say of the error."""
    if isinstance(error, smtplib.SMTPAuthenticationError):  # some servers repeat the password
        fatal = error.smtp_code >= 500 and error.smtp_code != AUTHENTICATION
        return fatal, f"{error.smtp_code} the user or password was refused"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
        known = any(said == NEEDS_UTF8 for _, said in error.recipients.values())
        why = f": {NEEDS_UTF8.decode()}" if known else ""
        return all(code >= 500 for code in codes), f"refused {codes}{why}"
    if isinstance(error, smtplib.SMTPResponseException):
        said = error.smtp_error
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        return error.smtp_code >= 500, f"{error.smtp_code} {text.one_line(words)[:200]}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return False, f"{error.verify_message}; ca-file names a certificate to trust"
    return False, str(error) or type(error).__name__


def _own_name() -> str:
    """The whole name of this box; the short one if no server of names answers."""
    try:
        return within(NAME_S, socket.getfqdn)
    except TimeoutError:
        return socket.gethostname()


def _mails(
    receiver: Receiver, message: text.Message, sender: str
) -> list[tuple[list[str], EmailMessage]]:
    """The mails with their recipients: one for all, or one for each if each has a link of its
    own."""
    asks = message.get("kind") == "question_asked" and message.get("state") in ("open", "still")
    if not (receiver.answer and asks):
        return [(list(receiver.to), _mail(sender, receiver, message, list(receiver.to), "", None))]
    return [
        ([one], _mail(sender, receiver, message, [one], f".{at}", link_for(receiver, message, one)))
        for at, one in enumerate(receiver.to)
    ]


def _mail(
    sender: str, receiver: Receiver, message: text.Message, to: list[str], part: str,
    answer: str | None,
) -> EmailMessage:  # fmt: skip
    domain = sender.rpartition("@")[2]
    thread = f"<{message.get('thread', message['id'])}@{domain}>"
    mail = EmailMessage(AS_BUILT)
    mail["From"], mail["To"] = sender, ", ".join(to)
    mail.set_raw("Subject", _subject(text.title(message)))
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message['id']}{part}@{domain}>"
    mail["References"] = mail["In-Reply-To"] = thread
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(text.lines(message, text.link_of(message, receiver.page), answer))
    return mail


def _subject(title: str) -> str:
    """A header that says the title and nothing else. Others may have written encoded words into it:
    before Python 3.11.10 and 3.12.5, `mail["Subject"] = title` decodes them with line breaks."""
    is_plain = title.isascii() and "=?" not in title
    return Header(title, "us-ascii" if is_plain else "utf-8", header_name="Subject").encode()


class _Smtp(smtplib.SMTP):
    """A connection that is cut when its time is over: a server that sends a letter now and then
    never lets a time-out pass. With `context` it is encrypted from its first byte on."""

    def __init__(
        self, host: str, port: int, own_name: str, ends: float, context: ssl.SSLContext | None
    ) -> None:
        self._ends, self._context = ends, context
        self._same: socket.socket | None = None  # the connection, also when TLS takes it over
        self._timer: threading.Timer | None = None
        greeting = own_name if "." in own_name else "[127.0.0.1]"
        try:
            super().__init__(host, port, greeting, timeout=TIMEOUT_S)
        except BaseException:
            self.close()
            raise

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """Connect, as smtplib asks for it."""
        left_s = self._ends - time.monotonic()
        opened = within(left_s, lambda: socket.create_connection((host, port), timeout))
        self._same = opened.dup()
        self._timer = threading.Timer(max(self._ends - time.monotonic(), 0), _cut, [self._same])
        self._timer.daemon = True
        self._timer.start()
        if self._context is None:
            return opened
        return self._context.wrap_socket(opened, server_hostname=host)

    def __exit__(self, *_error: object) -> None:
        """Part from the server. What it says to that changes nothing: the mail is sent or not."""
        with suppress(OSError, smtplib.SMTPException):
            self.docmd("QUIT")
        self.close()

    def close(self) -> None:
        super().close()
        if self._timer is not None:
            self._timer.cancel()
        if self._same is not None:
            self._same.close()


def _cut(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _connect(receiver: Receiver, own_name: str, ends: float) -> smtplib.SMTP:
    server = urlsplit(receiver.smtp)
    host = server.hostname or ""
    context = ssl.create_default_context(
        cafile=None if receiver.ca_file is None else str(receiver.ca_file)
    )
    if server.scheme == "smtps":
        return _Smtp(host, server.port or 465, own_name, ends, context)
    smtp = _Smtp(host, server.port or 587, own_name, ends, None)
    try:
        if receiver.tls:
            smtp.starttls(context=context)
    except BaseException:
        smtp.close()
        raise
    return smtp
