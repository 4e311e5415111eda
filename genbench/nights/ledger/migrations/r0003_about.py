"""What users say about a run: tags, note, and values of their own. Named parts of scores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None
_COLUMNS = ("tags", "note", "meta")


def upgrade() -> None:
    """Add the columns. Runs of before have none."""
    for name in _COLUMNS:
        op.add_column("run", sa.Column(name, sa.Text))
    op.add_column("score", sa.Column("parts", sa.Text))


def downgrade() -> None:
    """Remove the columns."""
    op.drop_column("score", "parts")
    for name in _COLUMNS:
        op.drop_column("run", name)
