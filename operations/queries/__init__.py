"""Reads of the engine's tables, by subject. Each says its cost where it is not one index lookup."""

from operations.queries.bad_runs import list_bad_runs
from operations.queries.days import COUNTED, count_events_since, find_first_event_since
from operations.queries.events import CONTENT_EVENTS, find_content_event_id, find_event, find_first_event_time
from operations.queries.executions import (
    count_plans,
    count_without_pdf,
    list_memberships,
    list_open_steps,
    list_preparations,
    list_step_rows,
)
from operations.queries.jobs import (
    find_job,
    find_timeline,
    list_jobs_scored_between,
    list_top_jobs,
    list_unknown_jobs,
    map_job_names,
    map_job_titles,
)
from operations.queries.pending import PendingRow, list_pending, list_retrying_runs
from operations.queries.runs import (
    OPEN_STATES,
    RunRow,
    build_temporal_command,
    count_open_runs,
    find_run,
    find_run_row,
    find_temporal_url,
    has_workflow,
    list_open_runs_of_job,
)
from operations.queries.stages import (
    HeldBy,
    count_lost_stages,
    count_stage_states,
    find_stage_state,
    list_settled_by_run,
    list_stage_candidates,
    list_unwatched_owners,
    map_lost_stages,
)
from operations.queries.unsettled import ASSUMED, OpenRun, Rotation, iter_unsettled_runs, list_unsettled_runs
from operations.queries.workers import find_fresh_worker

__all__ = [
    "ASSUMED",
    "CONTENT_EVENTS",
    "COUNTED",
    "OPEN_STATES",
    "HeldBy",
    "OpenRun",
    "PendingRow",
    "Rotation",
    "RunRow",
    "build_temporal_command",
    "count_events_since",
    "count_lost_stages",
    "count_open_runs",
    "count_plans",
    "count_stage_states",
    "count_without_pdf",
    "find_content_event_id",
    "find_event",
    "find_first_event_since",
    "find_first_event_time",
    "find_fresh_worker",
    "find_job",
    "find_run",
    "find_run_row",
    "find_stage_state",
    "find_temporal_url",
    "find_timeline",
    "has_workflow",
    "iter_unsettled_runs",
    "list_bad_runs",
    "list_jobs_scored_between",
    "list_memberships",
    "list_open_runs_of_job",
    "list_open_steps",
    "list_pending",
    "list_preparations",
    "list_retrying_runs",
    "list_settled_by_run",
    "list_stage_candidates",
    "list_step_rows",
    "list_top_jobs",
    "list_unknown_jobs",
    "list_unsettled_runs",
    "list_unwatched_owners",
    "map_job_names",
    "map_job_titles",
    "map_lost_stages",
]
