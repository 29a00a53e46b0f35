import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path

import pytest

from materials.artifact_files import ArtifactCorrupt, ArtifactFiles, ArtifactMissing, ArtifactWriteFailed, SweepReport

RESUME = b"%PDF-1.4 a resume"
LETTER = b"%PDF-1.4 a letter"
HOUR = 3600.0


@pytest.fixture
def files(tmp_path: Path) -> ArtifactFiles:
    return ArtifactFiles(tmp_path / "artifacts")


def list_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def make_old(path: Path) -> None:
    os.utime(path, (1_000_000_000, 1_000_000_000))


def know(*hashes: str) -> Callable[[Iterable[str]], set[str]]:
    return lambda asked: set(asked) & set(hashes)


def test_it_stores_a_file_under_its_hash_for_its_owner_only(files: ArtifactFiles, tmp_path: Path) -> None:
    stored = files.write(RESUME)

    digest = sha256(RESUME).hexdigest()
    assert (stored.sha256, stored.size) == (digest, len(RESUME))
    assert stored.relative_path == f"{digest[:2]}/{digest[2:4]}/{digest}.pdf"
    path = tmp_path / "artifacts" / stored.relative_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert files.read(stored.sha256) == RESUME


def test_it_keeps_one_copy_of_the_same_content(files: ArtifactFiles, tmp_path: Path) -> None:
    first = files.write(RESUME)
    inode = (tmp_path / "artifacts" / first.relative_path).stat().st_ino

    assert files.write(RESUME) == first
    assert (tmp_path / "artifacts" / first.relative_path).stat().st_ino == inode
    assert len(list_files(tmp_path)) == 1


def test_it_leaves_one_whole_file_when_many_write_the_same(files: ArtifactFiles, tmp_path: Path) -> None:
    data = RESUME * 50_000
    threads = [threading.Thread(target=files.write, args=(data,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [path.stat().st_size for path in list_files(tmp_path)] == [len(data)]


def test_it_refuses_a_file_that_was_changed_and_heals_it_on_the_next_write(
    files: ArtifactFiles, tmp_path: Path
) -> None:
    stored = files.write(RESUME)
    (tmp_path / "artifacts" / stored.relative_path).write_bytes(b"%PDF-1.4 a forged resume")

    with pytest.raises(ArtifactCorrupt, match="changed on disk"):
        files.read(stored.sha256)

    files.write(RESUME)
    assert files.read(stored.sha256) == RESUME


def test_it_says_which_file_is_missing(files: ArtifactFiles) -> None:
    with pytest.raises(ArtifactMissing, match="0" * 64):
        files.read("0" * 64)


@pytest.mark.parametrize(("digest", "suffix"), [("../../etc/passwd", ""), ("a" * 64, "/../x"), ("A" * 64, ".pdf")])
def test_it_accepts_no_name_that_could_leave_the_folder(files: ArtifactFiles, digest: str, suffix: str) -> None:
    with pytest.raises(ValueError, match="64 hexadecimal digits"):
        files.read(digest, suffix=suffix)


def test_it_sweeps_what_nobody_registered_and_writers_left_behind(files: ArtifactFiles, tmp_path: Path) -> None:
    resume, letter = files.write(RESUME), files.write(LETTER)
    root = tmp_path / "artifacts"
    left_behind = root / letter.relative_path.rpartition("/")[0] / ".writing-abc"
    left_behind.write_bytes(b"half a le")
    foreign = root / "notes.txt"
    foreign.write_text("mine")
    for path in list_files(root):
        make_old(path)

    assert files.sweep(know(resume.sha256), older_than_seconds=HOUR) == SweepReport(removed=2, kept=1)

    assert list_files(root) == sorted([root / resume.relative_path, foreign])


def test_it_spares_what_may_be_registered_in_a_moment(files: ArtifactFiles, tmp_path: Path) -> None:
    stored = files.write(RESUME)
    (tmp_path / "artifacts" / ".writing-now").write_bytes(b"")

    assert files.sweep(lambda asked: set(), older_than_seconds=HOUR) == SweepReport(removed=0, kept=2)
    assert files.read(stored.sha256) == RESUME


def test_it_spares_an_old_file_that_was_written_again_during_the_sweep(files: ArtifactFiles, tmp_path: Path) -> None:
    stored = files.write(RESUME)
    make_old(tmp_path / "artifacts" / stored.relative_path)

    def know_nothing_while_another_writes(asked: Iterable[str]) -> set[str]:
        files.write(RESUME)
        return set()

    assert files.sweep(know_nothing_while_another_writes, older_than_seconds=HOUR).removed == 0
    assert files.read(stored.sha256) == RESUME


def test_it_sweeps_nothing_where_no_folder_is(files: ArtifactFiles) -> None:
    assert files.sweep(lambda asked: set(), older_than_seconds=0) == SweepReport(removed=0, kept=0)


def test_it_leaves_nothing_of_a_file_there_was_no_room_for(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        "from materials.artifact_files import ArtifactFiles, ArtifactWriteFailed\n"
        "try:\n    ArtifactFiles(pathlib.Path(sys.argv[1])).write(b'x' * 200_000)\n"
        "except ArtifactWriteFailed as error:\n    print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)),
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
    )

    assert "Free space on the disk" in run.stdout
    assert list_files(tmp_path) == []


@pytest.mark.parametrize("place", ["under a file", "under /proc"])
def test_it_names_the_remedy_where_it_may_not_write(tmp_path: Path, place: str) -> None:
    (tmp_path / "plain").write_text("a file")
    root = tmp_path / "plain" / "artifacts" if place == "under a file" else Path("/proc/self/artifacts")
    if place == "under /proc" and not Path("/proc/self").exists():
        pytest.skip("this system has no /proc")

    with pytest.raises(ArtifactWriteFailed, match="Check that it exists and belongs to you"):
        ArtifactFiles(root).write(RESUME)
