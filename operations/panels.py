"""What the engine adds to what needs a person: runs that ended badly, and model providers that refuse us."""

from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils import timezone

from operations import queries
from operations.models import WorkflowRunProjection
from operations.needs import PAUSED, Need, needs_person
from operations.queries.spend import list_paused_providers
from operations.run_panels import explain_failures
from operations.settings_store import get_setting
from operations.wording import Tone, Wording, describe_run, name_workflow
from operations.wording.codes import passes_by_itself
from operations.wording.lanes import describe_refusal, name_provider

#: An older failure that nobody took up again is history; it stays on the Runs page.
KEPT: Final = timedelta(days=7)
START_AGAIN: Final = "Start it again; if it ends the same way, its page says where."


@needs_person
def list_run_needs(limit: int) -> list[Need]:
    runs = queries.list_bad_runs(since=timezone.now() - KEPT, limit=limit)
    titles = queries.map_job_titles([run.job_id for run in runs if run.job_id])
    explained = explain_failures(runs)
    needs = [describe_bad_run(run, titles.get(run.job_id, ""), explained.get(run.run_id)) for run in runs]
    return [need for need in needs if need.state.tone is Tone.PERSON]


def describe_bad_run(run: WorkflowRunProjection, title: str, explained: Wording | None = None) -> Need:
    state = explained or describe_run(run.status, error_code=run.error_code, reason_code=run.reason_code)
    name = name_workflow(run.workflow_type)
    return Need(
        f"run-{run.run_id}",
        f"{name}: {title}" if title else name,
        reverse("operations:run", args=[run.run_id]),
        state,
        START_AGAIN if not state.sentence or (passes_by_itself(run.error_code) and not explained) else state.sentence,
        run.ended_at or run.first_seen_at,
    )


@needs_person
def list_paused_needs(limit: int) -> list[Need]:
    """Model providers that refuse the account and that a lane uses; there are three at most."""
    paused = list_paused_providers()
    used = set(get_setting("provider").values()) if paused else set()
    needs = [
        Need(
            f"{PAUSED}{row.provider}",
            f"{name_provider(row.provider)} refuses this account",
            reverse("operations:spend"),
            Wording("Its work waits", Tone.PERSON, describe_refusal(row.reason_code)),
            f"{describe_refusal(row.reason_code).capitalize()}. Mend that, then ask it again.",
            row.opened_at,
        )
        for row in paused
        if row.provider in used
    ]
    return needs[:limit]
