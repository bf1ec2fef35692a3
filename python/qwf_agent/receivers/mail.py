"""Sends a message as mail: encrypted, and so that mail programs keep the messages of an alert
together and answer none of them by themselves."""

from __future__ import annotations

import smtplib
import socket
import ssl
from email.message import EmailMessage
from email.utils import formatdate
from urllib.parse import urlsplit

from qwf_agent.app import PermanentError, TemporaryError
from qwf_agent.receivers import text
from qwf_agent.receivers.config import Receiver, user_of
from qwf_agent.receivers.question_links import link_for

TIMEOUT_S = 30.0
AUTHENTICATION = 535


def send(receiver: Receiver, message: text.Message) -> None:
    """Send the message to each recipient; the same message has the same Message-ID in each try.
    If the server refuses some recipients, the others get it all the same. Raises TemporaryError,
    PermanentError."""
    mails = _mails(receiver, message)
    server = urlsplit(receiver.smtp)
    refused: dict[str, tuple[int, bytes]] = {}
    try:
        with _connect(receiver) as smtp:
            password = receiver.password()
            if password is not None:
                smtp.login(user_of(receiver.smtp), password)
            for to, mail in mails:
                try:
                    refused |= smtp.send_message(mail, receiver_address(receiver), to)
                except smtplib.SMTPRecipientsRefused as error:  # all of this mail
                    refused |= error.recipients
        if refused:
            raise smtplib.SMTPRecipientsRefused(refused)
    except smtplib.SMTPAuthenticationError as error:  # some servers repeat what they got: a secret
        fatal = error.smtp_code >= 500 and error.smtp_code != AUTHENTICATION
        _fail(fatal, server.hostname, f"{error.smtp_code} the user or password was refused")
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        _fail(all(code >= 500 for code in codes), server.hostname, f"refused {codes}")
    except smtplib.SMTPResponseException as error:
        fatal = error.smtp_code >= 500
        said = error.smtp_error
        words = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        _fail(fatal, server.hostname, f"{error.smtp_code} {text.one_line(words)[:200]}")
    except (OSError, smtplib.SMTPException) as error:
        _fail(False, server.hostname, str(error) or type(error).__name__)


def receiver_address(receiver: Receiver) -> str:
    """The sender of its mails."""
    return receiver.sender or f"qwf@{socket.getfqdn()}"


def _mails(receiver: Receiver, message: text.Message) -> list[tuple[list[str], EmailMessage]]:
    """The mails with their recipients: one for all, or one for each if each has a link of its
    own."""
    asks = message.get("kind") == "question_asked" and message.get("state") in ("open", "still")
    if not (receiver.answer and asks):
        return [(list(receiver.to), _mail(receiver, message, list(receiver.to), "", None))]
    return [
        ([one], _mail(receiver, message, [one], f".{at}", link_for(receiver, message, one)))
        for at, one in enumerate(receiver.to)
    ]


def _mail(
    receiver: Receiver, message: text.Message, to: list[str], part: str, answer: str | None
) -> EmailMessage:
    sender = receiver_address(receiver)
    domain = sender.rpartition("@")[2]
    thread = f"<{message.get('thread', message['id'])}@{domain}>"
    mail = EmailMessage()
    mail["From"], mail["To"] = sender, ", ".join(to)
    mail["Subject"] = text.title(message)
    mail["Date"] = formatdate()
    mail["Message-ID"] = f"<{message['id']}{part}@{domain}>"
    mail["References"] = mail["In-Reply-To"] = thread
    mail["Auto-Submitted"] = "auto-generated"
    mail["X-Auto-Response-Suppress"] = "All"
    mail.set_content(text.lines(message, text.link_of(message, receiver.page), answer))
    return mail


def _connect(receiver: Receiver) -> smtplib.SMTP:
    server = urlsplit(receiver.smtp)
    host = server.hostname or ""
    context = ssl.create_default_context(
        cafile=None if receiver.ca_file is None else str(receiver.ca_file)
    )
    if server.scheme == "smtps":
        return smtplib.SMTP_SSL(host, server.port or 465, timeout=TIMEOUT_S, context=context)
    smtp = smtplib.SMTP(host, server.port or 587, timeout=TIMEOUT_S)
    try:
        if receiver.tls:
            smtp.starttls(context=context)
    except BaseException:
        smtp.close()
        raise
    return smtp


def _fail(fatal: bool, host: str | None, said: str) -> None:
    raise (PermanentError if fatal else TemporaryError)(f"{said} ({host})")
