"""What every page shows around its content; each part is read only if the template asks for it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from operations import attention
from operations.navigation import LinkGroup, list_links
from operations.spend import read_spend_today
from operations.wording import describe_money

NEEDS_PERSON_SHOWN = 99


@dataclass(frozen=True, slots=True)
class Fact:
    """One word of the topbar; ``tone`` colours its dot, "" = no dot."""

    text: str
    tone: str = ""
    detail: str = ""


class Shell:
    def __init__(self, request: HttpRequest) -> None:
        self._path = request.path

    @cached_property
    def links(self) -> list[LinkGroup]:
        return list_links(self._path)

    @cached_property
    def worker(self) -> Fact:
        load = attention.find_worker_load()
        if load is None:
            return Fact("No worker", "person", "Nothing moves until a worker runs. Start it with the up command.")
        return Fact(f"Worker {load.busy}/{load.slots}", "good", f"{load.busy} of {load.slots} slots are busy.")

    @cached_property
    def spend(self) -> Fact:
        today = read_spend_today(timezone.now())
        if not today.uses_models and not today.spent_usd:
            return Fact("Nothing spent", detail="Every step uses the built-in engine, which costs nothing.")
        spent = describe_money(today.spent_usd)
        if not today.ceiling_usd:
            return Fact(f"{spent} today", detail="Spent today (UTC), without a limit.")
        tone = "waiting" if today.spent_usd >= today.ceiling_usd else ""
        return Fact(f"{spent} of {describe_money(today.ceiling_usd)}", tone, "Spent today (UTC) of the daily limit.")

    @property
    def facts(self) -> list[Fact]:
        return [self.worker, self.spend]

    @cached_property
    def needs_person(self) -> str:
        """How many jobs wait for a person: "", "3", at most "99+"."""
        count = len(attention.list_needing_person(limit=NEEDS_PERSON_SHOWN + 1))
        return f"{NEEDS_PERSON_SHOWN}+" if count > NEEDS_PERSON_SHOWN else str(count or "")


def add_shell(request: HttpRequest) -> dict[str, Any]:
    """The context processor; a visitor who has not signed in gets no shell, so nothing is read for them."""
    user = getattr(request, "user", None)
    return {"shell": Shell(request) if user is not None and user.is_authenticated else None}
