"""``GET /v1/health``: open to all, so that ``up`` and a monitor can ask; details for who is signed in."""

from typing import Any

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest
from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from operations.access.actors import InvalidToken, identify
from operations.api.base import Operation
from operations.readiness import (
    DatabaseState,
    ProjectionState,
    Readiness,
    SpendState,
    WorkerState,
    read_readiness,
)
from operations.temporal_probe import TemporalState

STARTED_AT = timezone.now()


class HealthOutput(serializers.Serializer[Any]):
    """What is not required is told to who is signed in."""

    class Process(serializers.Serializer[Any]):
        state = serializers.ChoiceField(("running",))
        startedAt = serializers.DateTimeField(required=False)

    class Database(serializers.Serializer[Any]):
        state = serializers.ChoiceField([str(state) for state in DatabaseState])
        vendor = serializers.CharField(required=False)

    class Temporal(serializers.Serializer[Any]):
        state = serializers.ChoiceField([str(state) for state in TemporalState])

    class Worker(serializers.Serializer[Any]):
        state = serializers.ChoiceField([str(state) for state in WorkerState])
        lastSeenAt = serializers.DateTimeField(required=False, allow_null=True)

    class Projections(serializers.Serializer[Any]):
        state = serializers.ChoiceField([str(state) for state in ProjectionState])
        apps = serializers.DictField(child=serializers.CharField(), required=False)

    class Spend(serializers.Serializer[Any]):
        state = serializers.ChoiceField([str(state) for state in SpendState])
        spentUsd = serializers.FloatField(required=False, allow_null=True)
        unknownCalls = serializers.IntegerField(required=False)
        ceilingUsd = serializers.FloatField(required=False)
        usesModels = serializers.BooleanField(required=False)

    status = serializers.ChoiceField(("ok", "degraded"))
    process = Process()
    database = Database()
    temporal = Temporal()
    worker = Worker()
    projections = Projections()
    spend = Spend()


class ShowHealth(Operation):
    authentication_classes = ()
    permission_classes = (AllowAny,)
    ignores_query = True

    def perform_authentication(self, request: Request) -> None:
        """Not DRF's: without authenticators it would put a stranger in the place of whom the session names."""

    @extend_schema(
        operation_id="getHealth",
        auth=[],
        responses={200: OpenApiResponse(HealthOutput, "Whenever the web process lives, whatever else is gone.")},
        tags=["health"],
    )
    def get(self, request: Request) -> Response:
        readiness = read_readiness()
        states = describe_states(readiness)
        if readiness.database is DatabaseState.OK and _is_signed_in(request._request):
            add_details(states, readiness)
        response = Response(states)
        response["Cache-Control"] = "no-store"
        return response


def describe_states(readiness: Readiness) -> dict[str, Any]:
    return {
        "status": "ok" if readiness.is_ready else "degraded",
        "process": {"state": "running"},
        "database": {"state": readiness.database},
        "temporal": {"state": readiness.temporal},
        "worker": {"state": readiness.worker},
        "projections": {"state": readiness.projection},
        "spend": {"state": readiness.spend_state},
    }


def add_details(states: dict[str, Any], readiness: Readiness) -> None:
    states["process"]["startedAt"] = STARTED_AT
    states["database"]["vendor"] = readiness.database_vendor
    states["worker"]["lastSeenAt"] = readiness.worker_seen_at
    states["projections"]["apps"] = readiness.projections
    if readiness.spend is not None:
        states["spend"] |= {
            "spentUsd": None if readiness.spend.is_unknown else float(readiness.spend.spent_usd),
            "unknownCalls": readiness.spend.unknown,
            "ceilingUsd": float(readiness.spend.ceiling_usd),
            "usesModels": readiness.spend.uses_models,
        }


def _is_signed_in(request: HttpRequest) -> bool:
    try:
        return identify(request, now=timezone.now()) is not None
    except (InvalidToken, DatabaseError, InterfaceError):
        return False
