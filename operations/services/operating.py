"""An operator's verbs that no typed event tells of; each leaves an audit row in the log."""

from django.contrib.auth.models import User
from django.utils import timezone

from operations.access.tokens import revoke_token
from operations.database import writer
from operations.errors import OperationsError
from operations.eventlog import append_marker
from operations.folding.engine import FoldFailed, catch_up
from operations.folding.rebuild import ProjectionReport, RebuildOvertaken, rebuild_projections

PROJECTIONS_REBUILT = "ProjectionsRebuilt"
PROJECTIONS_CAUGHT_UP = "ProjectionsCaughtUp"
API_TOKEN_REVOKED = "ApiTokenRevoked"
PROVIDER_ASKED_AGAIN = "ProviderAskedAgain"
STAGE_RELEASED = "StageReleased"
MARKERS = (API_TOKEN_REVOKED, PROJECTIONS_CAUGHT_UP, PROJECTIONS_REBUILT, PROVIDER_ASKED_AGAIN, STAGE_RELEASED)


class RebuildRefused(OperationsError):
    """The projections could not be rebuilt."""

    code = "rebuild_refused"


def rebuild_app(app: str, *, actor: str) -> ProjectionReport:
    """Rebuild one app's projections; the report says what was wrong before. Not inside ``writer()``: it takes many.

    Raises ``RebuildRefused`` where a fold refuses an event of the log, or a worker kept catching the app up meanwhile.
    """
    try:
        report = rebuild_projections(app=app)
    except FoldFailed as failure:
        raise RebuildRefused(
            f"A fold refuses event {failure.event.id:,} ({failure.code}). The tables are as they were; the fold has to "
            "be mended first."
        ) from None
    except RebuildOvertaken:
        raise RebuildRefused("A worker kept catching it up meanwhile. Try again in a moment.") from None
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
