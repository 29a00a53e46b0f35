"""The supervisor with real processes: order, health, restarts, logs and the time limit on stopping."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from jobctrl.home import Home
from operations.processes.children import RestartPolicy, Running, decide_restart
from operations.processes.log_files import rotate_log
from operations.processes.supervisor import PartFailed, Supervisor
from operations.processes.workspace_lock import AlreadyRunning, hold_workspace
from tests.processes import build_dummy_part, is_process_alive, wait_until

SLEEP = "import time; print('awake', flush=True); time.sleep(600)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"
QUICK = RestartPolicy(limit=4, first_delay_seconds=0.05, longest_delay_seconds=0.1)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.create()
    return home


def note_stop(name: str, file: Path) -> str:
    """A program that appends its name to ``file`` when it is asked to stop."""
    return (
        "import signal, sys, time\n"
        f"def stop(*_): open({str(file)!r}, 'a').write({name!r} + '\\n'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )


def test_it_starts_each_part_once_the_one_before_is_healthy(home: Home) -> None:
    asked: list[str] = []
    healthy_after = time.monotonic() + 0.5

    def is_slow_healthy(running: Running) -> bool:
        asked.append("slow")
        assert is_process_alive(running.pid)
        assert running.started_at
        return time.monotonic() > healthy_after

    def is_next_healthy(_running: Running) -> bool:
        assert time.monotonic() > healthy_after
        asked.append("next")
        return True

    parts = [
        build_dummy_part("slow", SLEEP, is_healthy=is_slow_healthy),
        build_dummy_part("next", SLEEP, is_healthy=is_next_healthy),
    ]
    said: list[str] = []
    with Supervisor(home, parts, announce=said.append) as supervisor:
        pids = list(supervisor.pids.values())
        assert all(map(is_process_alive, pids))
        assert asked[-1] == "next"
    assert not any(map(is_process_alive, pids))
    assert [line.split(" (")[0] for line in said] == [
        "slow: running",
        "next: running",
        "next: stopped",
        "slow: stopped",
    ]


def test_it_stops_the_last_started_first(home: Home, tmp_path: Path) -> None:
    order = tmp_path / "order"
    names = ["temporal", "worker", "web"]
    parts = [
        build_dummy_part(name, note_stop(name, order), is_healthy=lambda _, n=name: "ready" in read_log(home, n))
        for name in names
    ]
    with Supervisor(home, parts, announce=print):
        pass
    assert order.read_text().split() == ["web", "worker", "temporal"]


def test_it_kills_a_part_that_does_not_stop_in_time(home: Home) -> None:
    deaf = build_dummy_part("deaf", DEAF, stop_seconds=0.3, is_healthy=lambda _: "deaf" in read_log(home, "deaf"))
    said: list[str] = []
    with Supervisor(home, [deaf], announce=said.append) as supervisor:
        pid = supervisor.pids["deaf"]
        begun = time.monotonic()
    assert 0.3 <= time.monotonic() - begun < 3
    assert not is_process_alive(pid)
    assert said[-1] == "deaf: killed, it did not stop"


def test_a_second_ctrl_c_kills_what_is_left(home: Home) -> None:
    deaf = build_dummy_part("deaf", DEAF, stop_seconds=60, is_healthy=lambda _: "deaf" in read_log(home, "deaf"))
    supervisor = Supervisor(home, [deaf], announce=print)
    with ExitStack() as stack, supervisor:
        pid = supervisor.pids["deaf"]
        stack.enter_context(interrupting_after(0.3))
        begun = time.monotonic()
    assert time.monotonic() - begun < 5
    assert not is_process_alive(pid)


def test_ctrl_c_while_it_starts_leaves_nothing(home: Home) -> None:
    parts = [build_dummy_part("first", SLEEP), build_dummy_part("slow", SLEEP, is_healthy=lambda _: False)]
    supervisor = Supervisor(home, parts, announce=print)
    with interrupting_after(0.5), pytest.raises(KeyboardInterrupt):
        supervisor.__enter__()
    assert not any(map(is_process_alive, supervisor.pids.values()))


def test_it_goes_on_when_its_terminal_is_gone(home: Home) -> None:
    def refuse(_line: str) -> None:
        raise BrokenPipeError

    with Supervisor(home, [build_dummy_part("p", SLEEP)], announce=refuse) as supervisor:
        pid = supervisor.pids["p"]
        assert is_process_alive(pid)
    assert not is_process_alive(pid)


def test_it_kills_what_a_dead_part_left_behind(home: Home) -> None:
    program = (
        "import subprocess, sys, time\n"
        f"helper = subprocess.Popen([sys.executable, '-c', {SLEEP!r}])\n"
        "print('helper', helper.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    part = build_dummy_part("parent", program, is_healthy=lambda _: "helper" in read_log(home, "parent"))
    with Supervisor(home, [part], announce=print, policy=QUICK) as supervisor:
        helper = int(read_log(home, "parent").split("helper ")[1].split()[0])
        assert is_process_alive(helper)
        os.kill(supervisor.pids["parent"], signal.SIGKILL)
        wait_until(lambda: not is_process_alive(helper), what="the helper of the killed part is gone")


def test_it_starts_a_dead_part_again(home: Home) -> None:
    said: list[str] = []
    parts = [build_dummy_part("steady", SLEEP), build_dummy_part("fragile", SLEEP)]
    with Supervisor(home, parts, announce=said.append, policy=QUICK) as supervisor:
        before = supervisor.pids
        os.kill(before["fragile"], signal.SIGKILL)
        wait_until(lambda: len(said) == 4 and "running" in said[-1], what="it runs again")
        after = supervisor.pids
        assert after["fragile"] != before["fragile"]
        assert is_process_alive(after["fragile"])
        assert after["steady"] == before["steady"]
    assert said[2].startswith("fragile: ended with exit code -9; starting it again")


@pytest.fixture
def stranger() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that somebody else started, and that a part finds running."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", SLEEP], stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def test_it_takes_over_what_runs_already_and_leaves_it_running(home: Home, stranger: "subprocess.Popen[bytes]") -> None:
    said: list[str] = []
    healthy: list[Running] = []
    guest = build_dummy_part(
        "guest",
        SLEEP,
        detail="at its place",
        find_running=lambda: psutil.Process(stranger.pid),
        is_healthy=lambda running: not healthy.append(running),
    )
    with Supervisor(home, [guest, build_dummy_part("own", SLEEP)], announce=said.append) as supervisor:
        assert supervisor.pids["guest"] == stranger.pid
        own = supervisor.pids["own"]
    assert healthy == [Running(stranger.pid, started_at=None)]
    assert is_process_alive(stranger.pid)
    assert not is_process_alive(own)
    assert said[0] == (
        f"guest: running already at its place (pid {stranger.pid}, not started here: it is left running at the end)"
    )
    assert said[2:] == ["own: stopped", f"guest: left running (pid {stranger.pid}, not started here)"]


def test_it_starts_its_own_once_what_ran_already_has_ended(home: Home, stranger: "subprocess.Popen[bytes]") -> None:
    """Its end is nobody's failure: it counts as no death, though this part may die only once."""
    said: list[str] = []

    def find() -> psutil.Process | None:
        return psutil.Process(stranger.pid) if stranger.returncode is None else None

    part = build_dummy_part("p", SLEEP, find_running=find)
    with Supervisor(home, [part], announce=said.append, policy=RestartPolicy(limit=1)) as supervisor:
        assert supervisor.pids["p"] == stranger.pid
        stranger.kill()
        stranger.wait()
        wait_until(lambda: len(said) == 3, what="its own runs")
        own = supervisor.pids["p"]
        assert is_process_alive(own)
    assert said[1] == f"p: pid {stranger.pid}, not started here, has ended; starting it"
    assert said[2].startswith(f"p: running (pid {own}, log ")
    assert not is_process_alive(own)


def test_it_sees_the_end_of_what_ran_already_although_nobody_reaps_it(
    home: Home, stranger: "subprocess.Popen[bytes]"
) -> None:
    found = [psutil.Process(stranger.pid)]
    part = build_dummy_part("p", SLEEP, find_running=lambda: found.pop() if found else None)
    with Supervisor(home, [part], announce=lambda _: None) as supervisor:
        os.kill(stranger.pid, signal.SIGKILL)  # a zombie until this test ends
        wait_until(lambda: supervisor.pids["p"] != stranger.pid, what="its own runs")


def test_it_does_not_call_running_what_the_same_ctrl_c_has_ended(
    home: Home, stranger: "subprocess.Popen[bytes]"
) -> None:
    said: list[str] = []

    def announce(line: str) -> None:
        said.append(line)
        if line == "own: stopped":
            stranger.kill()
            stranger.wait()

    guest = build_dummy_part("guest", SLEEP, find_running=lambda: psutil.Process(stranger.pid))
    with Supervisor(home, [guest, build_dummy_part("own", SLEEP)], announce=announce):
        pass
    assert said[-1] == "own: stopped"


def test_it_refuses_what_runs_already_and_does_not_work(home: Home, stranger: "subprocess.Popen[bytes]") -> None:
    def refuse(_running: Running) -> bool:
        raise RuntimeError("it asks somebody else")

    part = build_dummy_part(
        "p", SLEEP, find_running=lambda: psutil.Process(stranger.pid), is_healthy=refuse, start_seconds=0.3
    )
    refusal = rf"p: pid {stranger.pid}, not started here, was not healthy after 0.3 s \(RuntimeError: it asks somebody"
    with pytest.raises(PartFailed, match=refusal) as refused:
        Supervisor(home, [part], announce=lambda _: None).__enter__()
    assert "Stop it: another is started in its place by the next start." in str(refused.value)
    assert is_process_alive(stranger.pid)


def test_it_goes_on_beside_what_does_not_work_once_everything_ran(
    home: Home, stranger: "subprocess.Popen[bytes]"
) -> None:
    """Its own died while another was there: nothing is stopped for that, and the end of the other one is awaited."""
    said: list[str] = []
    found: list[psutil.Process] = []
    part = build_dummy_part(
        "p",
        SLEEP,
        find_running=lambda: next(filter(psutil.Process.is_running, found), None),
        is_healthy=lambda running: running.started_at is not None,
        start_seconds=0.3,
    )
    refusal = f"p: pid {stranger.pid}, not started here, was not healthy after 0.3 s. Stop it: another is started in "
    with Supervisor(home, [part], announce=said.append, policy=QUICK) as supervisor:
        found.append(psutil.Process(stranger.pid))
        os.kill(supervisor.pids["p"], signal.SIGKILL)
        wait_until(lambda: said.count(f"{refusal}its place.") == 2, what="it is told again")
        assert supervisor.pids["p"] == stranger.pid
        stranger.kill()
        stranger.wait()
        wait_until(lambda: said[-1].startswith("p: running (pid "), what="its own runs")


def test_it_gives_up_loudly_on_a_part_that_keeps_dying(home: Home) -> None:
    parts = [build_dummy_part("steady", SLEEP), build_dummy_part("fragile", SLEEP)]
    supervisor = Supervisor(home, parts, announce=print, policy=QUICK)
    with pytest.raises(PartFailed, match=r"fragile ended with exit code -9, 4 times in all(.|\n)*awake"), supervisor:
        steady = supervisor.pids["steady"]
        killer = threading.Thread(target=kill_repeatedly, args=(supervisor, "fragile"), daemon=True)
        killer.start()
        supervisor.wait()
    assert not is_process_alive(steady)


def test_it_shows_the_log_of_a_part_that_cannot_start(home: Home) -> None:
    broken = build_dummy_part("broken", "raise SystemExit('no such setting')", is_healthy=lambda _: False)
    supervisor = Supervisor(home, [build_dummy_part("first", SLEEP), broken], announce=print, policy=QUICK)
    with pytest.raises(PartFailed, match=r"broken ended with exit code 1, 3 times in all(.|\n)*no such setting"):
        supervisor.__enter__()
    assert not is_process_alive(supervisor.pids["first"])


def test_it_says_why_a_part_never_became_healthy(home: Home) -> None:
    def refuse(_running: Running) -> bool:
        raise ConnectionError("no heartbeat row")

    part = build_dummy_part("silent", SLEEP, is_healthy=refuse, start_seconds=0.3)
    with pytest.raises(PartFailed, match=r"not healthy after 0.3 s \(ConnectionError: no heartbeat row\)"):
        Supervisor(home, [part], announce=print).__enter__()


def test_it_names_no_problem_that_is_over(home: Home) -> None:
    problems = [ConnectionError("no heartbeat row")]

    def refuse_once(_running: Running) -> bool:
        if problems:
            raise problems.pop()
        return False

    part = build_dummy_part("silent", SLEEP, is_healthy=refuse_once, start_seconds=0.3)
    with pytest.raises(PartFailed, match=r"not healthy after 0.3 s\."):
        Supervisor(home, [part], announce=print).__enter__()


def test_it_reports_a_program_that_does_not_exist(home: Home) -> None:
    part = build_dummy_part("absent", SLEEP, is_healthy=lambda _: False)
    absent = type(part)(name="absent", argv=("/nowhere/temporal",), is_healthy=part.is_healthy)
    with pytest.raises(PartFailed, match="/nowhere/temporal cannot be started: No such file"):
        Supervisor(home, [absent], announce=print, policy=QUICK).__enter__()


def test_it_shows_the_logs_on_the_terminal_when_verbose(home: Home) -> None:
    said: list[str] = []
    talker = build_dummy_part("talker", "import time; print('hello from within', flush=True); time.sleep(600)")
    with Supervisor(home, [talker], announce=said.append, verbose=True):
        wait_until(lambda: "talker | hello from within" in said, what="the line is shown")


def test_it_keeps_the_logs_of_the_five_runs_before(home: Home) -> None:
    for run in range(8):
        program = f"import time; print('run {run}', flush=True); time.sleep(600)"
        with Supervisor(home, [build_dummy_part("p", program)], announce=print):
            wait_until(lambda run=run: f"run {run}" in read_log(home, "p"), what="it wrote its log")  # type: ignore[misc]
    assert sorted(path.name for path in home.logs.iterdir()) == ["p.log", *(f"p.log.{n}" for n in range(1, 6))]
    assert "run 7" in read_log(home, "p")
    assert "run 6" in (home.logs / "p.log.1").read_text()
    assert "run 2" in (home.logs / "p.log.5").read_text()
    assert (home.logs / "p.log").stat().st_mode & 0o777 == 0o600


def test_it_rotates_nothing_where_there_is_no_log(tmp_path: Path) -> None:
    rotate_log(tmp_path / "worker.log")
    assert list(tmp_path.iterdir()) == []


def test_only_one_may_hold_a_workspace(tmp_path: Path) -> None:
    refusal = rf"already running on {tmp_path} \(pid {os.getpid()}\)"
    with hold_workspace(tmp_path), pytest.raises(AlreadyRunning, match=refusal):
        hold_workspace(tmp_path).__enter__()
    with hold_workspace(tmp_path):
        pass


@pytest.mark.parametrize(
    ("deaths", "has_been_healthy", "delay"),
    [
        ([100.0], True, 0.5),
        ([98.0, 100.0], True, 1.0),
        ([90.0] * 7 + [100.0], True, 30.0),
        ([-501.0, 100.0], True, 0.5),
        ([99.0] * 9 + [100.0], True, None),
        ([-600.0] * 9 + [100.0], True, 0.5),
        ([99.0, 100.0], False, 1.0),
        ([98.0, 99.0, 100.0], False, None),
    ],
)
def test_it_waits_longer_after_each_death_and_then_gives_up(
    deaths: list[float], has_been_healthy: bool, delay: float | None
) -> None:
    decided = decide_restart(deaths, now=100.0, has_been_healthy=has_been_healthy, policy=RestartPolicy())
    assert decided == delay


def read_log(home: Home, name: str) -> str:
    log = home.logs / f"{name}.log"
    return log.read_text() if log.exists() else ""


@contextmanager
def interrupting_after(seconds: float) -> Iterator[None]:
    """Ctrl-C for this very process, and for nothing that comes after the block. A shell's background job ignores it."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, handler)


def kill_repeatedly(supervisor: Supervisor, name: str) -> None:
    killed = 0
    while True:
        pid = supervisor.pids[name]
        if pid != killed and is_process_alive(pid):
            os.kill(pid, signal.SIGKILL)
            killed = pid
        time.sleep(0.3)
