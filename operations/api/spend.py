"""``/v1/spend``: today by lane against its limits, what is left, and the days before."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import Operation, refusals
from operations.api.exports import FORMATS, answer_csv, read_format, take_for_export
from operations.contracts import LANES
from operations.listing.paging import QueryReader
from operations.queries.spend import list_days, list_ledger, list_paused_providers, list_unknown_attempts
from operations.queries.spend import read_model_shares as read_shares
from operations.settings_store import get_setting
from operations.spend import LaneUse, SpendToday, read_spend_today
from operations.spend_pace import NoForecast, forecast_day

LONGEST = 366
UNKNOWN_COUNTED = 1000
UNTOLD = "null = unknown: calls were made, and none of them said what it used."
EXPORTED = ("day", "lane", "input_tokens", "output_tokens", "cached_input_tokens", "reasoning_output_tokens",
            "cost_usd")  # fmt: skip


class LaneOutput(serializers.Serializer[Any]):
    lane = serializers.CharField()
    provider = serializers.CharField()
    model = serializers.CharField(allow_blank=True)
    inputTokens = serializers.IntegerField(source="told.input_tokens", allow_null=True)
    outputTokens = serializers.IntegerField(source="told.output_tokens", allow_null=True)
    cachedInputTokens = serializers.IntegerField(
        source="told.cached_input_tokens", allow_null=True, help_text="Part of the input."
    )
    reasoningOutputTokens = serializers.IntegerField(
        source="told.reasoning_output_tokens", allow_null=True, help_text="Part of the output."
    )
    tokens = serializers.IntegerField(source="told.tokens", allow_null=True)
    costUsd = serializers.FloatField(source="told.cost_usd", allow_null=True, help_text=UNTOLD)
    unknownCalls = serializers.IntegerField(source="use.unknown", help_text="Of today; what they used is in no figure.")
    tokenLimit = serializers.IntegerField(source="use.limit", help_text="0 = none.")
    tokensLeft = serializers.IntegerField(source="use.left", allow_null=True)
    level = serializers.ChoiceField(["within", "near", "reached"], source="use.level")


class ModelOutput(serializers.Serializer[Any]):
    provider = serializers.CharField(source="use.provider")
    model = serializers.CharField(source="use.model")
    calls = serializers.IntegerField(source="use.calls")
    unknown = serializers.IntegerField(source="use.unknown", help_text="Of the calls; what they used is in no figure.")
    tokens = serializers.IntegerField(source="told.tokens", allow_null=True)
    costUsd = serializers.FloatField(source="told.cost_usd", allow_null=True, help_text=UNTOLD)


class DayOutput(serializers.Serializer[Any]):
    day = serializers.DateField()
    tokens = serializers.IntegerField(source="told.tokens", allow_null=True)
    costUsd = serializers.FloatField(source="told.cost_usd", allow_null=True, help_text=UNTOLD)
    unknownCalls = serializers.IntegerField(source="unknown", help_text="What they used is in no figure.")


class PausedOutput(serializers.Serializer[Any]):
    provider = serializers.CharField()
    reasonCode = serializers.CharField(source="reason_code")
    since = serializers.DateTimeField(source="opened_at")
    nextProbeAt = serializers.DateTimeField(source="next_probe_at")


class ShowSpend(Operation):
    query = (
        OpenApiParameter(
            "days",
            {"type": "integer", "minimum": 1, "maximum": LONGEST, "default": 30},
            description="Days of the history, today included.",
        ),
        OpenApiParameter("format", str, enum=FORMATS, description="`csv`: the ledger, a row for each day and lane."),
    )

    class Output(serializers.Serializer[Any]):
        day = serializers.DateField(source="today.day", help_text="UTC.")
        resetsAt = serializers.DateTimeField(source="today.resets_at")
        usesModels = serializers.BooleanField(source="today.uses_models")
        spentUsd = serializers.FloatField(
            allow_null=True,
            help_text="An estimate, not the providers' bill; at least that while there are `unknownCalls`. " + UNTOLD,
        )
        ceilingUsd = serializers.FloatField(source="today.ceiling_usd", help_text="0 = none.")
        leftUsd = serializers.FloatField(
            source="today.left_usd", allow_null=True, help_text="By what is known. null = no ceiling."
        )
        level = serializers.ChoiceField(["within", "near", "reached"], source="today.level")
        ceilingMetAt = serializers.DateTimeField(
            source="forecast.meets_at", allow_null=True, help_text="At the pace since today's first call."
        )
        ceilingMetReason = serializers.ChoiceField(
            [str(reason) for reason in NoForecast],
            source="forecast.reason",
            allow_null=True,
            help_text="Why no time can be said.",
        )
        unknownCalls = serializers.IntegerField(
            source="unknown", help_text=f"Of today, whose use nobody knows; counted up to {UNKNOWN_COUNTED:,}."
        )
        lanes = LaneOutput(many=True)
        models = ModelOutput(many=True)
        modelsOfNewestOnly = serializers.BooleanField(help_text="Only the newest 5,000 calls are in `models`.")
        paused = PausedOutput(many=True)
        history = DayOutput(many=True)

    @extend_schema(
        operation_id="getSpend",
        parameters=list(query),
        responses={(200, "application/json"): Output, (200, "text/csv"): OpenApiTypes.STR, **refusals()},
        tags=["spend"],
    )
    def get(self, request: Request) -> HttpResponseBase:
        reader = QueryReader(request.query_params)
        days = reader.integer("days", 1, LONGEST) or 30
        reader.finish()
        as_csv = read_format(request) == "csv"
        today = read_spend_today(timezone.now())
        since = today.day - timedelta(days=days - 1)
        if as_csv:
            return answer_csv("spend", EXPORTED, take_for_export(list_ledger(since, today.day).values_list(*EXPORTED)))
        return Response(
            self.Output(read_spend(today) | {"history": list_days(since, today.day, now=timezone.now())}).data
        )


def read_spend(today: SpendToday) -> dict[str, Any]:
    now = timezone.now()
    shares = read_shares(today.began_at)
    return {
        "today": today,
        "spentUsd": None if today.is_unknown else today.spent_usd,
        "forecast": forecast_day(today, shares, now=now),
        "unknown": len(list_unknown_attempts(since=today.began_at, now=now, limit=UNKNOWN_COUNTED)),
        "lanes": list_lanes(today),
        "models": [{"use": use, "told": None if use.unknown == use.calls else use} for use in shares.models],
        "modelsOfNewestOnly": shares.is_cut,
        "paused": list_paused_providers(),
    }


def list_lanes(today: SpendToday) -> list[dict[str, Any]]:
    """Every lane, the unused ones too."""
    used = {use.lane: use for use in today.lanes}
    providers, models = get_setting("provider"), get_setting("model")
    uses = [used.get(lane, LaneUse(lane)) for lane in LANES]
    return [
        {
            "lane": use.lane,
            "provider": providers.get(use.lane, "builtin"),
            "model": models.get(use.lane, ""),
            "use": use,
            "told": None if use.is_unknown else use,
        }
        for use in uses
    ]
