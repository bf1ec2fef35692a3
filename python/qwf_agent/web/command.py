"""The verb `qwf web`."""

from __future__ import annotations

import contextlib
import gc
import logging
import secrets
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from qwf_agent import config
from qwf_agent.look import connection, links

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

    from qwf_agent.web.app import Guard
    from qwf_agent.web.site.access import Access
    from qwf_agent.web.site.files import Root

NEEDED = "qwf web needs more packages: pip install 'qwf-agent[web]'"
OPEN_TO_OTHERS = (
    "{host} is an address that other machines reach: say who may come, by --sign-in (a login of"
    " Postgres) or --trust-header (a proxy in front)"
)
CLEAR_TEXT = (
    "passwords would cross the network in clear text: give --tls-cert and --tls-key, put a proxy"
    " with TLS in front of a loopback address, or accept it with --insecure-http"
)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5688, show_default=True, type=click.IntRange(0, 65535))
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
@click.option("--sign-in", is_flag=True, help="Ask people for their login of Postgres.")
@click.option("--trust-header", metavar="NAME", help="Header of a proxy that says who it is.")
@click.option("--from", "networks", multiple=True, metavar="CIDR", help="Where the proxy is.")
@click.option("--trust-proxy", is_flag=True, help="Believe X-Forwarded-Prefix and -Proto.")
@click.option("--name", "names", multiple=True, help="Host name by which browsers come.")
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False))
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--listen-dsn",
    envvar="QWF_LISTEN_DSN",
    metavar="URL",
    help="Address for LISTEN, needed if --dsn leads through a transaction pooler.",
)
@click.option(
    "--files",
    "folders",
    multiple=True,
    metavar="[HOST=]DIR",
    help="Show the files of jobs below this folder: of one host, or of all on a shared disk.",
)
@click.option(
    "--inbox",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for files that people upload to answer a question. Default: they cannot.",
)
@click.option(
    "--sandbox",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of a sandbox (make sandbox-build), linked in the menu.",
)
@click.option("--insecure-http", is_flag=True, help="Sign in without TLS on a network.")
@connection.dsn_option
def web(host: str, port: int, open_browser: bool, dsn: str | None, **options: Any) -> None:
    """See and steer the fleet, answer its questions, in a browser.

    Prints the link to the page. By default only this machine reaches it, and anybody with the link
    may do what the login of --dsn may do. Other machines reach it with --host, and then people
    sign in (--sign-in), or a proxy says who they are (--trust-header, with a table [web.people] in
    qwf.toml: ada = "admin", "*" = "viewer").

    \b
    Example:  qwf web --open
              qwf web --sign-in --host 0.0.0.0 --name box-a \\
                --tls-cert box.pem --tls-key box.key
    """
    try:
        import uvicorn

        from qwf_agent.web.site import access
    except ModuleNotFoundError as error:
        raise config.ConfigError(f"{NEEDED} ({error.name} is missing)") from None
    token = secrets.token_urlsafe(32)
    hosts = (*access.LOCAL_HOSTS, host, f"[{host}]", *options["names"])
    options["link_secret"] = _link_secret()
    where = config.find_dsn(dsn)
    with connection.connect(where) as conn:
        connection.refuse_standby(conn)
    page = _page(where, token, host, hosts, options)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    listening = _listen(uvicorn, host, port)
    scheme = "https" if options["tls_cert"] else "http"
    shown = f"[{host}]" if ":" in host else host
    link = f"{scheme}://{shown}:{listening.getsockname()[1]}/"
    if not (options["sign_in"] or options["trust_header"]):
        link += f"?token={token}"
    with contextlib.suppress(KeyboardInterrupt):  # asked to stop
        click.echo(link)
        if open_browser:
            webbrowser.open(link)
        _serve(uvicorn, page, listening, options)


def _serve(uvicorn: Any, page: Any, listening: socket.socket, options: dict[str, Any]) -> None:
    from qwf_agent.web.site import patience

    settings = uvicorn.Config(
        page, log_level="warning", server_header=False, proxy_headers=False, access_log=False,
        ssl_certfile=options["tls_cert"], ssl_keyfile=options["tls_key"],
        timeout_graceful_shutdown=2, http=patience.PatientProtocol,
    )  # fmt: skip
    patience.raise_descriptors()
    gc.collect()
    gc.freeze()  # else a full collection looks at all that was imported, and a page waits 30 ms
    server = uvicorn.Server(settings)
    stop = server.shutdown

    async def shutdown(sockets: list[socket.socket] | None = None) -> None:
        """End the streams of open tabs first: uvicorn waits for them, and then cuts them off."""
        await page.app.state.end_streams()
        await stop(sockets)

    server.shutdown = shutdown
    server.run(sockets=[listening])


def _page(
    dsn: str, token: str, host: str, hosts: Sequence[str], options: dict[str, Any],
) -> Guard:  # fmt: skip
    """The pages of one database. Raises ConfigError."""
    from qwf_agent.web import app

    who = _access(dsn, token, host, options)
    listen = options["listen_dsn"]
    listen_dsn = None if listen is None else config.read_dsn(listen, "--listen-dsn")
    roots = [_root(folder) for folder in options["folders"]]
    return app.build(
        dsn, who, hosts, options["trust_proxy"], listen_dsn, roots, options["link_secret"],
        _sandbox(options["sandbox"]), _inbox(options["inbox"]),
    )  # fmt: skip


def _root(text: str) -> Root:
    """A folder below which files are shown. Raises ConfigError."""
    from qwf_agent.web.site import files

    try:
        return files.parse_root(text)
    except ValueError as error:
        raise config.ConfigError(f"--files: {error}") from None


def _inbox(folder: Path | None) -> Path | None:
    """The folder of uploads. Raises ConfigError."""
    from qwf_agent.web.site import inbox

    try:
        return None if folder is None else inbox.check_folder(folder)
    except ValueError as error:
        raise config.ConfigError(f"--inbox: {error}") from None


def _sandbox(folder: Path | None) -> Path | None:
    """The folder, if a sandbox was built there. Raises ConfigError."""
    if folder is not None and not (folder / "qwf.data").is_file():
        raise config.ConfigError(
            f"--sandbox: no sandbox was built in {folder}; `make sandbox-build` in a checkout"
            " builds one in build/sandbox"
        )
    return folder


def _link_secret() -> bytes | None:
    """The secret of signed links. Without one the page starts all the same, and has no links."""
    try:
        return links.secret_of_this_user()
    except config.ConfigError as error:
        click.echo(f"there are no signed links: {error}", err=True)
        return None


def _listen(uvicorn: Any, host: str, port: int) -> Any:
    """A listening socket. Raises ConfigError if the address is taken or not ours."""
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once (TCP_NODELAY) only if the protocol is named; else each page waits 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise config.ConfigError(
            f"cannot listen on {host}, port {port}: {error.strerror}; --port takes another one"
        ) from None
    listening.listen(128)
    listening.setblocking(False)
    return listening


def _access(dsn: str, token: str, host: str, options: dict[str, Any]) -> Access:
    """Who may come. Raises ConfigError if that is not said, or would give away passwords."""
    from qwf_agent.web.site import access, sign_in, trusted

    if options["sign_in"] and options["trust_header"]:
        raise click.UsageError("--sign-in and --trust-header exclude each other")
    if bool(options["tls_cert"]) != bool(options["tls_key"]):
        raise click.UsageError("--tls-cert and --tls-key belong together")
    if options["trust_header"]:
        people = config.load_toml().get("web", {}).get("people", {})
        says = trusted.Header(options["trust_header"], options["networks"], people)
        return trusted.Trusted(dsn, says, options["read_only"])
    if options["networks"]:
        raise click.UsageError("--from belongs to --trust-header")
    local = access.is_loopback(host)
    if options["sign_in"]:
        if not (local or options["tls_cert"] or options["insecure_http"]):
            raise config.ConfigError(CLEAR_TEXT)
        return sign_in.SignIn(dsn, options["read_only"])
    if not local:
        raise config.ConfigError(OPEN_TO_OTHERS.format(host=host))
    return access.TokenAccess(dsn, token, options["read_only"])
