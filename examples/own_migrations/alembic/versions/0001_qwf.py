"""The schema of qwf."""

import qwf_schema

revision = "0001"
down_revision = None


def upgrade() -> None:
    qwf_schema.deploy()


def downgrade() -> None:
    qwf_schema.revert()
