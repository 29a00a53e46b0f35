"""``/v1/settings/actions/test-provider``: one small question to a model provider. It may cost something."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import Operation, refusals
from operations.contracts import LANES
from operations.llm.providers import PROVIDERS
from operations.services.providers import Trial, try_provider


class TestProvider(Operation):
    class Input(serializers.Serializer[Any]):
        provider = serializers.ChoiceField(choices=list(PROVIDERS))
        model = serializers.CharField(max_length=120)
        lane = serializers.ChoiceField(
            choices=LANES, required=False, help_text="That it counts under; the first that uses this model otherwise."
        )

    class Output(serializers.Serializer[Any]):
        works = serializers.BooleanField()
        error = serializers.CharField(source="code", allow_blank=True)
        message = serializers.CharField(source="failure", allow_blank=True)
        lane = serializers.CharField()
        provider = serializers.CharField()
        model = serializers.CharField()
        calls = serializers.IntegerField()
        unknownCalls = serializers.IntegerField(source="unknown", help_text="Of the calls: they did not say their use.")
        tokens = serializers.IntegerField()
        costUsd = serializers.SerializerMethodField(help_text="null = unknown.")

        def get_costUsd(self, trial: Trial) -> float | None:
            return None if trial.calls and trial.unknown == trial.calls else float(trial.cost_usd)

    @extend_schema(
        operation_id="testProvider",
        request=Input,
        responses={200: Output, **refusals(403, 409, 413, 415)},
        description="Asks one question of a few tokens; the day's limits hold for it. 200 also where it failed: "
        "`works` says which.",
        tags=["settings"],
    )
    def post(self, request: Request) -> Response:
        given = self.read_input(self.Input, request)
        trial = try_provider(provider=given["provider"], model=given["model"], lane=given.get("lane", ""))
        return Response(self.Output(trial).data)
