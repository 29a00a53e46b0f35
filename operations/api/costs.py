"""What models cost, beside what they were asked for."""

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, Final

from rest_framework import serializers

from operations.queries.spend import CallCost

_NO_CALLS: Final = CallCost(0, 0, 0, Decimal(0))


class CostOutput(serializers.Serializer[Any]):
    costUsd = serializers.FloatField(
        source="told_usd",
        allow_null=True,
        help_text="An estimate; at least that while there are `unknownCalls`. null = no model was asked, or no call of "
        "one said what it used.",
    )
    modelCalls = serializers.IntegerField(source="calls")
    unknownCalls = serializers.IntegerField(source="unknown", help_text="Of the calls; `costUsd` lacks what they used.")


def write_cost(cost: CallCost | None) -> dict[str, Any]:
    """The fields of ``CostOutput``; ``None`` = no model was asked."""
    return write_costs([cost])[0]


def write_costs(costs: Iterable[CallCost | None]) -> list[dict[str, Any]]:
    """One serializer for all of them: to make one takes longer than to use it."""
    return list(CostOutput([cost or _NO_CALLS for cost in costs], many=True).data)
