"""Descending order with NULLs last on both databases, usable in queries and in indexes."""

from typing import Any

from django.db.models import F
from django.db.models.expressions import OrderBy
from django.db.models.functions import Collate
from django.db.models.indexes import IndexExpression


class DescendingNullsLast(OrderBy):
    """``DESC NULLS LAST``. SQLite sorts NULLs last anyway and refuses the words inside an index."""

    def __init__(self, expression: Any, **_: Any) -> None:
        expression = F(expression) if isinstance(expression, str) else expression
        super().__init__(expression, descending=True, nulls_last=True)

    def as_sqlite(self, compiler: Any, connection: Any) -> Any:
        plain: Any = self.copy()
        plain.nulls_last = None
        return OrderBy.as_sql(plain, compiler, connection)


IndexExpression.register_wrappers(OrderBy, Collate, DescendingNullsLast)
