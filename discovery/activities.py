"""Discovery's activities: shells around services."""

from collections.abc import Callable

from temporalio import activity
from temporalio.exceptions import ApplicationError, CancelledError

from discovery.contracts import (
    DiscoveryEnd,
    DiscoveryPlan,
    FamilyInput,
    FamilyReport,
    FanoutInput,
    FanoutReport,
    PlanInput,
)
from discovery.gateway import FetchCancelled
from discovery.services import preparation, runs
from operations.activities import check_workspace
from operations.contracts import FANOUT_BATCH, StepKind, WorkPlan
from operations.queries import list_memberships
from operations.services.steps import recorded_step
from operations.stopping import must_stop, raise_if_stopped


@activity.defn(name="plan_sources", no_thread_cancel_exception=True)
def plan_sources(given: PlanInput) -> DiscoveryPlan:
    with recorded_step(given.execution_ref, StepKind.SOURCE_PLANNING, attempt=activity.info().attempt) as counts:
        plan = runs.plan_run(given.execution_ref, families=given.families)
        counts["families"] = len(plan.families)
    return plan


@activity.defn(name="crawl_source_family", no_thread_cancel_exception=True)
def crawl_source_family(given: FamilyInput) -> FamilyReport:
    """Every source of one family. A failing one is typed and the others go on; a retry reads only what failed."""
    check_workspace(given.workspace_identity)
    ref, attempt = given.execution_ref, activity.info().attempt
    with recorded_step(ref, StepKind.SOURCE_FAMILY, item_key=given.family, attempt=attempt) as counts:
        failures = []
        for source_id in runs.list_open_sources(ref, given.family):
            raise_if_stopped()
            try:
                failure = runs.crawl_source(ref, source_id, attempt=attempt, is_cancelled=must_stop)
            except FetchCancelled:
                raise_if_stopped()
                raise CancelledError("canceled while reading a source") from None
            if failure is not None:
                failures.append(failure)
        counts.update(runs.sum_family_counts(ref, given.family))
        if passing := [failure for failure in failures if failure.retryable]:
            raise ApplicationError(
                f"{passing[0].source_id}: {passing[0].message}", type=passing[0].error_type, non_retryable=False
            )
        if hopeless := runs.list_failures(ref, given.family):
            source_id, code = hopeless[0]
            message = next((f.message for f in failures if f.source_id == source_id), code)
            raise ApplicationError(f"{source_id}: {message}", type=runs.find_error_type(code), non_retryable=True)
    runs.count_family_done(ref)
    return FamilyReport(given.family, dict(counts))


@activity.defn(name="fan_out_preparations", no_thread_cancel_exception=True)
def fan_out_preparations(given: FanoutInput) -> FanoutReport:
    """Plan every member that has no plan yet and start its preparation, 25 at a time."""
    check_workspace(given.workspace_identity)
    ref = given.execution_ref
    with recorded_step(ref, StepKind.PREPARATION_FANOUT, attempt=activity.info().attempt) as counts:
        runs.advance_progress(ref, remaining=1)
        waiting = list_memberships(ref, plan_state=WorkPlan.PENDING)
        for start in range(0, len(waiting), FANOUT_BATCH):
            raise_if_stopped()
            batch = preparation.fan_out(
                ref,
                waiting[start : start + FANOUT_BATCH],
                profile_version=given.profile_version,
                workspace_identity=given.workspace_identity,
            )
            for name, value in batch.items():
                counts[name] = counts.get(name, 0) + value
    runs.advance_progress(ref, remaining=0)
    return FanoutReport(dict(counts))


@activity.defn(name="record_discovery_end", no_thread_cancel_exception=True)
def record_discovery_end(end: DiscoveryEnd) -> None:
    runs.end_run(end)


ACTIVITIES: list[Callable[..., object]] = [
    plan_sources,
    crawl_source_family,
    fan_out_preparations,
    record_discovery_end,
]
