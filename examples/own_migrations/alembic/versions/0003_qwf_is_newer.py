"""A newer version of qwf is installed: its schema."""

import qwf_schema

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    qwf_schema.deploy()


def downgrade() -> None:
    pass  # the newer schema stays
