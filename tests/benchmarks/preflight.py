"""The check before a run and before each attempt, over a long ledger and a great many attempts."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from operations.activities import check_spend_budget
from operations.contracts import LANES, MODEL_LANES, SpendPreflight
from operations.database import writer
from operations.llm.authority import check_budget
from operations.llm.calls import Caller
from operations.llm.ledger import Target, close_unknown, compare_day, open_attempt
from operations.models import LlmAttempt, LlmSpend
from operations.settings_store import change_settings
from tests.benchmarks.figures import Figure, at_most, compute_percentile, measure_times

LEDGER_ROWS = int(os.environ.get("BENCH_LEDGER_ROWS", "10000"))
ATTEMPTS = int(os.environ.get("BENCH_ATTEMPTS", "1000000"))
BATCH = 5_000
TARGET = Target("score", "openai", "gpt-5-mini")
COST = Decimal("0.000100")


def measure(jobs: int) -> Iterator[Figure]:
    fill(timezone.now())
    change_settings({"provider": dict.fromkeys(MODEL_LANES, "openai"), "daily_budget_usd": 1_000_000.0}, actor="bench")
    note = f"{LlmSpend.objects.count():,} ledger rows, {LlmAttempt.objects.count():,} attempts"
    given = SpendPreflight(("score",))
    times = measure_times(lambda: check_spend_budget(given), repeats=400)
    yield at_most("preflight of a run, p95", compute_percentile(times, 95), "ms", 2, note=note)
    times = measure_times(lambda: check_budget("score", now=timezone.now()), repeats=400)
    yield at_most("check before an attempt, p95", compute_percentile(times, 95), "ms", 2)
    yield at_most(
        "attempt admitted and closed, p95", compute_percentile(measure_times(pass_once, repeats=200), 95), "ms"
    )
    times = measure_times(lambda: compare_day(timezone.now()), repeats=5)
    yield at_most("doctor's comparison of a day, p50", compute_percentile(times, 50), "ms")


def pass_once() -> None:
    key = open_attempt(TARGET, Caller("prep-bench", "bench-run"))
    close_unknown(key, http_status=None, error_code="")


def fill(now: datetime) -> None:
    """A row for every lane of each day as far back as it takes, and attempts that add up to them."""
    days = -(-LEDGER_ROWS // len(LANES))
    per_row = max(1, ATTEMPTS // LEDGER_ROWS)
    pairs = [
        (now - timedelta(days=number // len(LANES)), LANES[number % len(LANES)]) for number in range(days * len(LANES))
    ]
    with writer():
        LlmSpend.objects.bulk_create(
            [
                LlmSpend(
                    tenant_id=settings.TENANT_ID,
                    day=moment.astimezone(UTC).date(),
                    lane=lane,
                    input_tokens=100 * per_row,
                    output_tokens=20 * per_row,
                    cost_usd=COST * per_row,
                )
                for moment, lane in pairs
            ],
            batch_size=BATCH,
        )
    batch: list[LlmAttempt] = []
    for number in range(per_row * len(pairs)):
        batch.append(build_attempt(number, *pairs[number // per_row]))
        if len(batch) == BATCH:
            save(batch)
            batch = []
    save(batch)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def build_attempt(number: int, moment: datetime, lane: str) -> LlmAttempt:
    return LlmAttempt(
        tenant_id=settings.TENANT_ID,
        observation_key=UUID(int=(number * 0x9E3779B97F4A7C15F39CC0605CEDC835) % 2**128),
        lane=lane,
        provider="openai",
        model=TARGET.model,
        run_id=f"bench-run-{number // 50}",
        state="counted",
        http_status=200,
        input_tokens=100,
        output_tokens=20,
        cost_usd=COST,
        priced_by="list",
        day=moment.astimezone(UTC).date(),
        opened_at=moment,
        closed_at=moment,
    )


def save(batch: list[LlmAttempt]) -> None:
    with writer():
        LlmAttempt.objects.bulk_create(batch)
