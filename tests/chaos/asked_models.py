"""Workers that score by a model on loopback, and whether its requests, the attempts, the ledger and the log agree."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from scoring.contracts import Fit
from tests.boardserver import BoardServer
from tests.chaos.programs import Programs
from tests.modelserver import Asked, ModelServer
from tests.modelwires import Answer, Tokens
from tests.scoring.model_answers import MODEL, ask_for, judge_all, list_lanes, read_lane
from tests.worker.boards import REQUIREMENTS, build_postings, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

LANES: Final = ("analysis", "score")
KEY: Final = "sk-brindlewick-0451"
#: Of every answer; by the list that is 0.00225 dollars.
USED: Final = Tokens(given=1000, made=1000)
TOKENS: Final = USED.given + USED.made
COST_USD: Final = 0.00225
#: Tokens, cost and whether it goes on, of an attempt in each state; no other is left behind here.
WANTED: Final = {"counted": (USED.given, USED.made, COST_USD, False), "open": (None, None, None, True)}
BOARD = "parcels"
PREPARE = """
from discovery.services.sources import register_source
from operations.settings_store import change_settings
change_settings({settings!r}, actor='chaos')
register_source('greenhouse', {board!r}, base_url={url!r})
"""
START = """
from uuid import UUID
from operations.contracts import StageName
from operations.settings_store import change_settings
from operations.starters import StartOrder, start_stage
if {settings!r}:
    change_settings({settings!r}, actor='chaos')
for jobs in {selections!r}:
    chosen = None if jobs is None else [UUID(job) for job in jobs]
    print(start_stage(StartOrder(StageName.SCORE, chosen)).run_id)
"""
#: What is shown as "usage unknown" once no answer can come any more.
COUNT_SHOWN = """
from datetime import timedelta
from django.utils import timezone
from operations.queries.spend import ANSWER_IS_LATE, count_unknown
now = timezone.now()
print(sum(count_unknown(since=now - timedelta(days=1), now=now + ANSWER_IS_LATE).values()))
"""


def answer(asked: Asked) -> Answer:
    if read_lane(asked) == "analysis":
        return Answer({"requirements": [ask_for(line) for line in REQUIREMENTS]}, tokens=USED)
    return judge_all(asked, Fit.DIRECT, tokens=USED)


@dataclass(slots=True)
class AskedModels:
    """A workspace whose workers do one job at a time each, and the model that they ask."""

    workspace: Workspace
    boards: BoardServer
    models: ModelServer
    workers: int = 1
    programs: Programs = field(init=False)

    def __post_init__(self) -> None:
        self.programs = Programs(self.workspace, self.workers)

    def start(self, jobs: int) -> None:
        """The jobs are found before there is a profile, so that nothing is prepared of itself."""
        self.workspace.environment |= {**self.models.base_urls, "OPENAI_API_KEY": KEY}
        self.models.usual = answer
        if not self.workspace.temporal_address:
            self.programs.start_temporal()
        settings = {
            "worker_activity_slots": 1,
            "results_per_board": jobs,
            "provider": dict.fromkeys(LANES, "openai"),
            "model": dict.fromkeys(LANES, MODEL),
        }
        serve_board(self.boards, BOARD, build_postings(self.boards, 1, jobs))
        self.workspace.run_python(PREPARE.format(settings=settings, board=BOARD, url=self.boards.url))
        self.programs.start_workers()
        assert self.workspace.discover() == "succeeded"
        self.workspace.run("import_profile", str(SAMPLE_PROFILE))

    def add_workers(self, number: int) -> None:
        self.workers = self.programs.workers = self.workers + number
        self.programs.start_workers()

    def stop(self) -> None:
        self.programs.stop()

    def start_runs(self, *selections: Sequence[str] | None, **settings: Any) -> list[str]:
        """Change the settings, then start a run of the score stage for each selection of jobs, ``None`` = every eligible
        one; returns their ids."""
        return self.workspace.run_python(START.format(selections=selections, settings=settings)).split()

    def wait_for_ends(self, run_ids: Sequence[str], *, seconds: float = 240.0) -> Counter[tuple[str, str]]:
        """How many of the runs ended with which status and error code."""
        for run_id in run_ids:
            self.workspace.wait_for_run(run_id, seconds=seconds)
        ends = self.workspace.query("SELECT run_id, status, error_code FROM workflow_run_projections")
        return Counter((status, code) for run_id, status, code in ends if run_id in run_ids)

    def list_unscored(self) -> list[str]:
        """Ids of the jobs without a score, oldest first."""
        rows = self.workspace.query(
            "SELECT job_id FROM job_stage_states WHERE stage = 'score' AND state <> 'succeeded' ORDER BY id"
        )
        return [str(UUID(str(job_id))) for (job_id,) in rows]

    def count_attempts(self, where: str = "1 = 1", *parameters: object) -> int:
        return self.workspace.count("llm_attempts", where, *parameters)

    def find_uneven_books(self) -> list[str]:
        """What left and is not on record, what was counted twice or not at all, and what nobody would be shown."""
        requests, attempts, counted = Counter(list_lanes(self.models)), Counter[str](), Counter[str]()
        faults = []
        for lane, state, given, made, cost, is_open in self.workspace.query(
            "SELECT lane, state, input_tokens, output_tokens, cost_usd, closed_at IS NULL FROM llm_attempts"
        ):
            attempts[lane] += 1
            counted[lane] += state == "counted"
            use = given, made, None if cost is None else float(cost), bool(is_open)
            if WANTED.get(state) != use:
                faults.append(f"an attempt of {lane} is {state} with {use}")
        for lane in LANES:
            if not counted[lane] <= requests[lane] <= attempts[lane]:
                faults.append(f"{lane}: {requests[lane]} requests, {attempts[lane]} attempts, {counted[lane]} counted")
        left_open = (attempts - counted).total()
        if (shown := int(self.workspace.run_python(COUNT_SHOWN))) != left_open:
            faults.append(f"{left_open} attempts are open, {shown} would be shown as of unknown use")
        return [*faults, *self.find_uneven_sums(counted), *self.ask_doctor()]

    def find_uneven_sums(self, counted: Counter[str]) -> list[str]:
        """The ledger and the log against the counted attempts of each lane."""
        due = {
            lane: (USED.given * calls, USED.made * calls, round(COST_USD * calls, 6)) for lane, calls in counted.items()
        }
        spent = {
            lane: (int(given), int(made), round(float(cost), 6))
            for lane, given, made, cost in self.workspace.query(
                "SELECT lane, sum(input_tokens), sum(output_tokens), sum(cost_usd) FROM llm_spend GROUP BY lane"
            )
        }
        observed = Counter(payload["lane"] for _, payload in self.workspace.list_events("LlmUsageObserved"))
        return [
            *([f"the ledger says {spent}, its counted attempts {due}"] if spent != due else []),
            *([f"the log tells of {observed}, counted were {counted}"] if observed != counted else []),
        ]

    def ask_doctor(self) -> list[str]:
        """What the operator's own check says of today's ledger and yesterday's."""
        found = json.loads(self.workspace.manage("doctor", "--json").stdout.splitlines()[-1])
        (spend,) = [one for one in found if one["check"] == "model spend"]
        return [] if spend["verdict"] == "ok" else [spend["detail"]]
