"""``GET /v1/health``: open to all, so that ``up`` and a monitor can ask; details for who is signed in."""

from typing import Any

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, JsonResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from operations.access.actors import InvalidToken, identify
from operations.readiness import DatabaseState, Readiness, read_readiness

STARTED_AT = timezone.now()


@require_safe
def show_health(request: HttpRequest) -> JsonResponse:
    """200 whenever the web process lives, whatever else is gone."""
    readiness = read_readiness()
    states = describe_states(readiness)
    if readiness.database is DatabaseState.OK and _is_signed_in(request):
        add_details(states, readiness)
    response = JsonResponse(states)
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
            "spentUsd": float(readiness.spend.spent_usd),
            "ceilingUsd": float(readiness.spend.ceiling_usd),
            "usesModels": readiness.spend.uses_models,
        }


def _is_signed_in(request: HttpRequest) -> bool:
    try:
        return identify(request, now=timezone.now()) is not None
    except (InvalidToken, DatabaseError, InterfaceError):
        return False
