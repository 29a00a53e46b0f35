"""Costs beside runs, jobs and their steps; "" where no model was asked, since then there is nothing to say."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from operations.contracts import ExecutionRef
from operations.queries.spend import CallCost, add_costs, find_preparations_cost, find_run_cost, map_run_costs
from operations.wording.costs import describe_cost, describe_short_cost


def describe_run_cost(run_id: str) -> str:
    """Of the models that the run itself asked."""
    return _describe(find_run_cost(run_id))


def describe_run_costs(run_ids: Sequence[str]) -> dict[str, str]:
    """``describe_run_cost`` for the runs of a page, with one read; only those that asked a model are there."""
    return {run_id: _describe(cost) for run_id, cost in map_run_costs(run_ids).items()}


def describe_preparations_cost(ref: ExecutionRef, *, since: datetime | None) -> str:
    """Of the runs that prepare what a discovery found."""
    return _describe(find_preparations_cost(ref, since=since)) if since else ""


def describe_job_cost(costs: Mapping[str, CallCost]) -> str:
    return _describe(add_costs(list(costs.values())))


def describe_stage_cost(cost: CallCost | None) -> str:
    return describe_short_cost(calls=cost.calls, unknown=cost.unknown, cost_usd=cost.cost_usd) if cost else ""


def _describe(cost: CallCost | None) -> str:
    if cost is None:
        return ""
    return describe_cost(calls=cost.calls, unknown=cost.unknown, cost_usd=cost.cost_usd, is_cut=cost.is_cut)
