"""What every page shows around its content; each part is read only if the template asks for it."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from operations import attention
from operations.navigation import LinkGroup, list_links
from operations.needs import PAUSED, Need, list_needs
from operations.readiness import read_worker
from operations.spend import SpendLevel, SpendToday, read_spend_today
from operations.temporal_probe import TemporalAnswer, TemporalState, temporal_probe
from operations.wording import Tone, count_of, describe_money
from operations.wording.costs import describe_spent
from operations.wording.lanes import join_lanes, name_lane
from operations.wording.quantities import describe_reset

NEEDS_PERSON_SHOWN = 99
#: The top bar asks again after so long; sooner where something is being found out right now.
REFRESH_SECONDS: Final = 15
SOON_SECONDS: Final = 3


@dataclass(frozen=True, slots=True)
class Fact:
    """One word of the topbar; ``tone`` colours its dot, "" = no dot. ``url`` leads to where it is told at length.

    ``fresh_seconds``: for how long it may be shown; from then on a page that has heard nothing newer shows
    ``expired`` in its place. 0 = for as long as the page stands.
    """

    text: str
    tone: str = ""
    detail: str = ""
    fresh_seconds: int = 0
    expired: str = ""
    url: str = ""


class Shell:
    def __init__(self, request: HttpRequest) -> None:
        self._path = request.path

    @cached_property
    def links(self) -> list[LinkGroup]:
        return list_links(self._path)

    @cached_property
    def temporal(self) -> TemporalAnswer:
        """What is known of it without waiting: no page stands still because Temporal does."""
        return temporal_probe.peek()

    @cached_property
    def worker(self) -> Fact:
        load = attention.find_worker_load()
        if load is None:
            return Fact("No worker", "person", "Nothing moves until a worker runs. Start it with the up command.")
        text = f"Worker {load.busy}/{load.slots}"
        detail = f"{load.busy} of {load.slots} slots are busy."
        return Fact(text, "good", detail, max(load.fresh_seconds, 1), "Worker not heard from")

    @property
    def has_worker(self) -> bool:
        return bool(self.worker.fresh_seconds)

    @cached_property
    def worker_seen_at(self) -> datetime | None:
        return read_worker()[1]

    @cached_property
    def spend(self) -> Fact:
        return describe_spend(read_spend_today(timezone.now()))

    @property
    def facts(self) -> list[Fact]:
        return [*describe_temporal(self.temporal), self.worker, self.spend]

    @property
    def refresh_seconds(self) -> int:
        is_asking = self.temporal.has_address and self.temporal.state is TemporalState.UNKNOWN
        return SOON_SECONDS if is_asking else REFRESH_SECONDS

    @cached_property
    def _jobs_needing(self) -> int:
        return len(attention.list_needing_person(limit=NEEDS_PERSON_SHOWN + 1))

    @cached_property
    def needs(self) -> list[Need]:
        """The runs and boards among what waits for a person; read once for the page and its top bar."""
        return list_needs(NEEDS_PERSON_SHOWN + 1)

    @property
    def paused_providers(self) -> list[Need]:
        """Those of the needs that hold work up on every page: model providers that refuse the account."""
        return [need for need in self.needs if need.key.startswith(PAUSED)]

    @property
    def needs_person(self) -> str:
        """How many jobs wait for a person: "", "3", at most "99+"."""
        return _cap(self._jobs_needing)

    @property
    def waits(self) -> str:
        """How many jobs, runs and boards wait for a person."""
        return _cap(self._jobs_needing + len(self.needs))

    @property
    def waits_url(self) -> str:
        """Where they are listed: the jobs have a list of their own, the dashboard shows all of it."""
        if self.needs:
            return f"{reverse('operations:dashboard')}#needs-you"
        return f"{reverse('operations:jobs')}?needs=me"


def describe_spend(today: SpendToday) -> Fact:
    """Amber from 80 % of a limit on; at it work waits and nothing fails, so it is never red."""
    url = reverse("operations:spend")
    if not today.uses_models and not today.spent_usd and not today.unknown:
        return Fact("Built-in engine, nothing spent", url=url)
    untold = f"What {count_of(today.unknown, 'call')} used is unknown." if today.unknown else ""
    if today.is_unknown:
        return Fact("Spent today: unknown", Tone.UNKNOWN, untold, url=url)
    spent, resets = describe_spent(today.spent_usd, unknown=today.unknown, is_unknown=False), describe_reset()
    if today.level is SpendLevel.REACHED:
        said = f"Limit reached: {spent} of {describe_money(today.ceiling_usd)}, {resets}"
        return Fact(said, Tone.WAITING, "Work that needs a model waits until then.", url=url)
    limit = f"of {describe_money(today.ceiling_usd)} today" if today.ceiling_usd else "today, no limit"
    if today.full_lanes:
        said = f"At the limit, which {resets}: {join_lanes(today.full_lanes)}. The rest goes on."
        return Fact(f"{spent} {limit}, {name_one(today.full_lanes)} at its limit", Tone.WAITING, said, url=url)
    if today.level is SpendLevel.NEAR:
        return Fact(
            f"{spent} {limit}, {today.percent} %", Tone.WAITING, f"At 100 % work waits. The limit {resets}.", url=url
        )
    if today.near_lanes:
        said = (
            f"At 80 % of the limit or more, which {resets}: {join_lanes(today.near_lanes)}. At 100 % that work waits."
        )
        return Fact(f"{spent} {limit}, {name_one(today.near_lanes)} near its limit", Tone.WAITING, said, url=url)
    return Fact(f"{spent} {limit}", detail=f"Spent since midnight UTC. {untold}".strip(), url=url)


def name_one(lanes: list[str]) -> str:
    return name_lane(lanes[0]).lower() if len(lanes) == 1 else "some work"


def describe_temporal(answer: TemporalAnswer) -> list[Fact]:
    """Nothing while it answers: that is what a reader expects."""
    if answer.is_lost:
        return [Fact("Temporal does not answer", "person", "Start everything with the up command.")]
    if answer.state is TemporalState.UNKNOWN and answer.has_address:
        return [Fact("Asking Temporal", "unknown", "Whether it answers is known in a moment.")]
    return []


def _cap(count: int) -> str:
    return f"{NEEDS_PERSON_SHOWN}+" if count > NEEDS_PERSON_SHOWN else str(count or "")


def add_shell(request: HttpRequest) -> dict[str, Any]:
    """The context processor; a visitor who has not signed in gets no shell, so nothing is read for them."""
    user = getattr(request, "user", None)
    return {"shell": Shell(request) if user is not None and user.is_authenticated else None}
