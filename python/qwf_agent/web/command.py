"""The verb `qwf web`."""

from __future__ import annotations

import logging
import secrets
import webbrowser

import click
import uvicorn

from qwf_agent import config
from qwf_agent.cli import connection
from qwf_agent.web import access
from qwf_agent.web.app import create_app


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=5688, show_default=True, type=click.IntRange(0, 65535))
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.option("--read-only", is_flag=True, help="Show everything, change nothing.")
@connection.dsn_option
def web(host: str, port: int, open_browser: bool, read_only: bool, dsn: str | None) -> None:
    """Show the fleet, steer it and answer its questions in a browser.

    Prints the link to the page. Whoever has the link may do what the login of --dsn may do.
    """
    where = config.find_dsn(dsn)
    connection.connect(where).close()
    if not access.is_loopback(host):
        raise config.ConfigError(f"{host} is an address that other machines reach")
    token = secrets.token_urlsafe(32)
    app = create_app(where, access.TokenAccess(where, token, read_only))
    link = f"http://{host}:{port}/?token={token}"
    click.echo(link)
    if open_browser:
        webbrowser.open(link)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)
