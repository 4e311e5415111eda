"""How replies end, and the measures of each problem next to its score."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns. Runs that are in the ledger have none until they are scored again."""
    op.add_column("score", sa.Column("loops", sa.REAL))
    op.add_column("score", sa.Column("empty", sa.REAL))
    op.add_column("score", sa.Column("measures", sa.LargeBinary))


def downgrade() -> None:
    """Remove the columns."""
    for name in ("loops", "empty", "measures"):
        op.drop_column("score", name)
