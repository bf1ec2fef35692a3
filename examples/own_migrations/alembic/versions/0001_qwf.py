"""The schema of qwf 0.1.0."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
SCHEMA = Path(__file__).parents[1] / "qwf.sql"


def upgrade() -> None:
    # With the driver's own cursor and no parameters: the text has percent signs.
    op.get_bind().connection.cursor().execute(SCHEMA.read_text())
