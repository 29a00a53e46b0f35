"""What models used, as rows of the ledger and of its attempts."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.utils import timezone

from operations.models import LlmAttempt, LlmSpend, ProviderBreaker
from operations.settings_store import change_settings


def use_model(*lanes: str, provider: str = "openai", model: str = "gpt-5-mini") -> None:
    change_settings(
        {"provider": dict.fromkeys(lanes, provider), "model": dict.fromkeys(lanes, model)}, actor="the test"
    )


def spend(cost: str, *, lane: str = "score", given: int = 1000, made: int = 200, **fields: Any) -> LlmSpend:
    """What a lane used on a day, today unless said otherwise."""
    day = fields.pop("day", timezone.now().date())
    return LlmSpend.objects.create(
        day=day, lane=lane, input_tokens=given, output_tokens=made, cost_usd=Decimal(cost), **fields
    )


def attempt(cost: str = "", *, at: datetime | None = None, **fields: Any) -> LlmAttempt:
    """A call that was counted with this cost; "" = one whose use nobody knows."""
    opened_at = at or timezone.now()
    counted: dict[str, Any] = {"state": "unknown"}
    if cost:
        counted = {
            "state": "counted", "cost_usd": Decimal(cost), "input_tokens": 1000, "output_tokens": 200,
            "http_status": 200, "day": opened_at.date(),
        }  # fmt: skip
    named = {"lane": "score", "provider": "openai", "model": "gpt-5-mini", **counted, **fields}
    return LlmAttempt.objects.create(observation_key=uuid4(), opened_at=opened_at, **named)


def pause(provider: str = "openai", *, reason: str = "out_of_credit", next_probe_at: datetime) -> ProviderBreaker:
    return ProviderBreaker.objects.create(
        provider=provider, reason_code=reason, opened_at=timezone.now(), next_probe_at=next_probe_at
    )
