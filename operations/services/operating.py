"""An operator's verbs that no typed event tells of; each leaves an audit row in the log."""

from django.contrib.auth.models import User
from django.utils import timezone

from operations.access.tokens import revoke_token
from operations.database import writer
from operations.eventlog import append_marker
from operations.folding.engine import catch_up
from operations.folding.rebuild import ProjectionReport, rebuild_projections

PROJECTIONS_REBUILT = "ProjectionsRebuilt"
PROJECTIONS_CAUGHT_UP = "ProjectionsCaughtUp"
API_TOKEN_REVOKED = "ApiTokenRevoked"
MARKERS = (API_TOKEN_REVOKED, PROJECTIONS_CAUGHT_UP, PROJECTIONS_REBUILT)


def rebuild_app(app: str, *, actor: str) -> ProjectionReport:
    """Rebuild one app's projections; the report says what was wrong before. Not inside ``writer()``: it takes many.

    Raises ``RebuildOvertaken`` where others kept catching the app up meanwhile.
    """
    report = rebuild_projections(app=app)
    wrong = {table.table: table.missing + table.differing + table.superfluous for table in report.tables}
    with writer():
        append_marker(
            PROJECTIONS_REBUILT,
            job_id=None,
            body={"app": app, "actor": actor, "events": report.events, "wrongBefore": wrong},
        )
    return report


def catch_up_app(app: str, *, actor: str) -> int:
    """Fold what a flagged app has missed; returns the number of events. One that fails again stays flagged."""
    folded = catch_up(app)
    with writer():
        append_marker(PROJECTIONS_CAUGHT_UP, job_id=None, body={"app": app, "actor": actor, "events": folded})
    return folded


def revoke_api_token(token_id: int, *, owner: User, label: str, actor: str) -> bool:
    """End a token at once; ``False`` where it had been revoked before, and nothing is noted."""
    with writer():
        revoked = revoke_token(token_id, user=owner, now=timezone.now())
        if revoked:
            append_marker(API_TOKEN_REVOKED, job_id=None, body={"tokenId": token_id, "label": label, "actor": actor})
    return revoked
