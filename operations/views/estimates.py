"""What stands beside the forms that start work which can spend; nothing where it cannot."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from operations.contracts import SPENDING_STAGES
from operations.spend import read_spend_today
from operations.spend_estimates import FEWEST_JOBS, Estimate, list_estimates
from operations.wording import STAGE_NAMES, count_of, describe_money


def build_estimate(stages: Sequence[str] = SPENDING_STAGES) -> dict[str, Any] | None:
    """The context of ``_estimate.html``: what a job costs by stage, and what is left today."""
    now = timezone.now()
    estimates = list_estimates(stages, jobs=None, now=now)
    if not estimates:
        return None
    return {"lines": [describe_estimate(estimate) for estimate in estimates], "today": read_spend_today(now)}


def describe_estimate(estimate: Estimate) -> str:
    """``Scoring: $0.01 to $0.03 a job, from 40 recent jobs``."""
    noun = STAGE_NAMES[estimate.stage].noun
    if estimate.low_usd is None or estimate.high_usd is None:
        return f"{noun}: no estimate yet, fewer than {FEWEST_JOBS} jobs"
    low, high = describe_money(estimate.low_usd), describe_money(estimate.high_usd)
    price = low if low == high else f"{low} to {high}"
    return f"{noun}: {price} a job, from {count_of(estimate.sample_size, 'recent job')}"
