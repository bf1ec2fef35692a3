"""The schema of qwf in the database of a migration, whatever the driver of that is."""

from alembic import op

from qwf_agent import migrate


def deploy() -> None:
    """Deploy what the installed version of qwf has and the database lacks."""
    migrate.deploy(_address())


def revert() -> None:
    """Drop the schema of qwf, and with it all jobs, runs and definitions."""
    migrate.revert(_address())


def _address() -> str:
    url = op.get_bind().engine.url.set(drivername="postgresql")
    return url.render_as_string(hide_password=False)
