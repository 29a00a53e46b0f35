"""Costs beside runs, jobs and their steps; "" where no model was asked, since then there is nothing to say."""

from collections.abc import Mapping

from operations.queries.spend import CallCost, add_costs, find_run_cost
from operations.wording.costs import describe_cost, describe_short_cost


def describe_run_cost(run_id: str) -> str:
    """Of the models that the run itself asked; the runs that it started have costs of their own."""
    return _describe(find_run_cost(run_id))


def describe_job_cost(costs: Mapping[str, CallCost]) -> str:
    return _describe(add_costs(list(costs.values())))


def describe_stage_cost(cost: CallCost | None) -> str:
    return describe_short_cost(calls=cost.calls, unknown=cost.unknown, cost_usd=cost.cost_usd) if cost else ""


def _describe(cost: CallCost | None) -> str:
    if cost is None:
        return ""
    return describe_cost(calls=cost.calls, unknown=cost.unknown, cost_usd=cost.cost_usd, is_cut=cost.is_cut)
