"""One real ``manage.py up`` that the browser tests visit, and the boards on loopback that it may read."""

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.boardserver import BoardServer, reply_hang
from tests.postgres import own_database
from tests.processes import wait_until
from tests.up import READY, build_command
from tests.worker.boards import build_posting, list_path, serve_board
from tests.worker.workspace import SAMPLE_PROFILE, Workspace

START_SECONDS = 90.0
LINK = re.compile(r"http://\S+/sign-in/\S+")
PASSWORD = "quite a long sentence 7"
SLOW_BOARD = "slow"
ODD_BOARD = "oddments"
LONG_TITLE = "Senior Staff Backend Engineer for Very Long Titles That Recruiters Like to Write, Including the Team, the Stack, the City, the Grade (m/f/d) and a Promise"
LONG_COMPANY = "Gesellschaftfuerunternehmensuebergreifendezusammenarbeitmbh" + "x" * 141
RTL_TITLE = "مهندس برمجيات خلفية أول"
CJK_TITLE = "バックエンドエンジニア(プラットフォーム基盤)"
MARKUP_TITLE = 'Engineer <script>alert(1)</script> & "quotes"'


@dataclass(slots=True)
class Product:
    """``boards`` is the only host on loopback that it may read."""

    workspace: Workspace
    boards: BoardServer
    process: "subprocess.Popen[bytes]"
    output: Path

    @property
    def url(self) -> str:
        return f"http://{(self.workspace.home / 'web.address').read_text().strip()}"

    def read_output(self) -> str:
        return self.output.read_text(errors="replace")

    def find_first_link(self) -> str:
        """The link that ``up`` printed."""
        found = LINK.search(self.read_output())
        assert found, self.read_output()
        return found[0]

    def make_link(self) -> str:
        return self.workspace.run("sign_in_link").strip()

    def find_pid(self, part: str) -> int:
        """Of the newest process of ``web``, ``worker`` or ``temporal``."""
        return int(re.findall(rf"^{part}: running.*\(pid (\d+)", self.read_output(), re.MULTILINE)[-1])

    @contextmanager
    def part_killed(self, part: str) -> Iterator[None]:
        """One part is dead inside, its supervisor asleep; afterwards it is started again as after any crash."""
        before = self.read_output().count(f"{part}: running")
        os.kill(self.process.pid, signal.SIGSTOP)
        try:
            os.kill(self.find_pid(part), signal.SIGKILL)
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)
        wait_until(
            lambda: self.read_output().count(f"{part}: running") > before, what=f"{part} again", seconds=START_SECONDS
        )

    def set_password(self) -> None:
        """Before anybody signs in: it ends every session."""
        self.workspace.run_python(
            "from operations.access.accounts import ensure_operator, set_password\n"
            f"set_password(ensure_operator(), password={PASSWORD!r})"
        )

    def age_heartbeats(self, *, seconds: int) -> None:
        """As if the worker had last been heard of so long ago."""
        self.workspace.run_python(
            "from datetime import timedelta\nfrom django.db.models import F\n"
            "from operations.models import WorkerRuntimeHeartbeat as Beat\n"
            f"Beat.objects.update(last_seen_at=F('last_seen_at') - timedelta(seconds={seconds}))"
        )

    def count_jobs(self) -> int:
        return self.workspace.count("job_list_projections", "NOT deleted AND NOT hidden")

    def fill(self) -> None:
        """A profile, the sample boards, one of odd postings and a discovery over them; nothing where that is done."""
        self.import_profile()
        if not self.workspace.count("jobs"):
            self.workspace.run("add_source", "bundled")
            self.add_board(ODD_BOARD)
            self.discover()

    def import_profile(self) -> None:
        self.workspace.run("import_profile", str(SAMPLE_PROFILE))

    def add_board(self, board: str) -> None:
        self.workspace.run("add_source", "greenhouse", board, "--base-url", self.boards.url)

    def count_discoveries(self) -> int:
        return self.workspace.count("workflow_run_projections", "workflow_type = %s", "DiscoverWorkflow")

    def cancel(self, run_url: str) -> None:
        self.workspace.run_python(
            "from operations.services.cancellation import cancel_run\n"
            f"cancel_run('{run_url.rstrip('/').rpartition('/')[2]}')"
        )

    def wait_for_end(self, run_url: str) -> None:
        """Of the run whose page this is."""
        self.workspace.wait_for_run(run_url.rstrip("/").rpartition("/")[2])

    def discover(self) -> str:
        return self.workspace.discover(seconds=240)


@contextmanager
def running_product(folder: Path) -> Iterator[Product]:
    """Started from nothing: an empty home, no profile, no source."""
    home = folder / "home"
    home.mkdir(mode=0o700)
    output = folder / "up.log"
    with BoardServer() as boards, own_database(os.environ.get("DATABASE_URL", "")) as database:
        serve_odd_board(boards)
        boards.set_route(list_path(SLOW_BOARD), reply_hang(600))
        workspace = Workspace(
            home=home,
            database_url=database,
            temporal_address="",
            namespace="",
            environment={"JOBCTRL_WEB_ADDRESS": "127.0.0.1:0", "JOBCTRL_ALLOW_PRIVATE_HOSTS": boards.host_port},
        )
        with output.open("wb") as log:
            process = subprocess.Popen(
                build_command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=workspace.build_environment()
            )
        product = Product(workspace, boards, process, output)
        try:
            wait_until(
                lambda: READY in product.read_output() or process.poll() is not None, what="up", seconds=START_SECONDS
            )
            assert process.poll() is None, product.read_output()
            wait_until(lambda: LINK.search(product.read_output()) is not None, what="the sign-in link")
            product.set_password()
            yield product
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def serve_odd_board(boards: BoardServer) -> None:
    """Postings that strain a layout: endless titles and names, other scripts, markup."""
    titles = (LONG_TITLE, RTL_TITLE, CJK_TITLE, MARKUP_TITLE, "Backend Engineer")
    postings = [
        build_posting(number, title=title, url=f"{boards.url}/jobs/{number}") for number, title in enumerate(titles, 1)
    ]
    postings[0]["company_name"] = LONG_COMPANY
    postings[0]["location"] = {"name": "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, United Kingdom"}
    postings[1]["company_name"] = "شركة النخيل للتقنية"
    postings[2]["company_name"] = "株式会社みなとテクノロジーズ"
    serve_board(boards, ODD_BOARD, postings)


@contextmanager
def slow_board_on(product: Product) -> Iterator[None]:
    """Inside it a discovery goes on until it is canceled: one of its boards never answers."""
    product.add_board(SLOW_BOARD)
    switch_slow_board(product, enabled=True)
    try:
        yield
    finally:
        switch_slow_board(product, enabled=False)


def switch_slow_board(product: Product, *, enabled: bool) -> None:
    product.workspace.run_python(
        "from discovery.services.sources import set_source_enabled\n"
        f"set_source_enabled('greenhouse:{SLOW_BOARD}', enabled={enabled})"
    )
