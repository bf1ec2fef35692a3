"""A table of the application."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.create_table(
        "orders", sa.Column("id", sa.BigInteger, primary_key=True), sa.Column("email", sa.Text)
    )


def downgrade() -> None:
    op.drop_table("orders")
