"""The schema of qwf in the database of a migration; in a test, that is the one of the test."""

from django.db import migrations

from qwf_agent import migrate

ADDRESS = {"host": "HOST", "port": "PORT", "dbname": "NAME", "user": "USER", "password": "PASSWORD"}


def deploy(apps, editor):
    """Deploy what the installed version of qwf has and the database lacks."""
    migrate.deploy(**_address(editor))


def revert(apps, editor):
    """Drop the schema of qwf, and with it all jobs, runs and definitions."""
    migrate.revert(**_address(editor))


def _address(editor):
    given = editor.connection.settings_dict
    return {name: given[key] for name, key in ADDRESS.items()}


FIRST = migrations.RunPython(deploy, revert)
NEWER = migrations.RunPython(deploy, migrations.RunPython.noop)  # going back leaves it
