"""The workspace folder: where it is, what lies in it, and its secret key.

Imported by the settings, so it must not import Django.
"""

import errno
import os
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

SUBFOLDERS = ("artifacts", "logs", "browser", "backups")
#: Temporal opens its database by a URI: with one of these in its path the file would lie somewhere else.
UNUSABLE_CHARACTERS = "?#%"
#: A disk, a quota or a limit of this process that is used up.
NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class HomeUnusable(RuntimeError):
    """The workspace folder cannot be used: ``reason`` and ``remedy`` are a sentence each."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(f"{reason} {remedy}")
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Home:
    """Paths inside ``JOBCTRL_HOME``; nothing here touches the disk until ``create``."""

    root: Path

    def __post_init__(self) -> None:
        """Raises ``HomeUnusable`` for a path that Temporal's database cannot have."""
        if any(character in UNUSABLE_CHARACTERS or not character.isprintable() for character in str(self.root)):
            raise HomeUnusable(
                f"JOBCTRL_HOME {str(self.root)!r} has one of ? # % or an invisible character in its path.",
                "Set JOBCTRL_HOME to a folder without them.",
            )

    @classmethod
    def at(cls, path: str) -> "Home":
        """The home at this path, of which ``~`` and links are followed. Raises ``HomeUnusable``."""
        try:
            return cls(Path(path).expanduser().resolve())
        except (OSError, RuntimeError) as error:  # links in a circle, a user that is not there
            raise HomeUnusable(
                f"JOBCTRL_HOME {path!r} leads nowhere ({error}).", "Set JOBCTRL_HOME to another folder."
            ) from error

    @property
    def database(self) -> Path:
        return self.root / "jobctrl.db"

    @property
    def temporal_database(self) -> Path:
        return self.root / "temporal.db"

    @property
    def artifacts(self) -> Path:
        return self.root / "artifacts"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def browser(self) -> Path:
        return self.root / "browser"

    @property
    def secret_key_file(self) -> Path:
        return self.root / "secret_key"

    def create(self) -> None:
        """Make the folder (0700) and its subfolders.

        Raises:
            HomeUnusable: naming the folder, the reason and the remedy.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            for name in SUBFOLDERS:
                (self.root / name).mkdir(mode=0o700, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.root, prefix=".probe-") as probe:  # one of its own
                probe.write(b"jobctrl")
                probe.flush()
        except OSError as error:
            raise self._refuse(error) from error

    def read_secret_key(self) -> str:
        """The generated key, made on first use and readable by its owner only."""
        try:
            if key := self.secret_key_file.read_text(encoding="ascii").strip():
                return key
            raise ValueError("it is empty")
        except FileNotFoundError:
            self.create()
        except ValueError as error:
            raise HomeUnusable(
                f"{self.secret_key_file} holds no key.",
                "Move it away: the next start makes a new one, and everybody signs in again.",
            ) from error
        except OSError as error:
            if self.secret_key_file.parent.is_dir():
                raise HomeUnusable(
                    f"{self.secret_key_file} cannot be read ({error.strerror}).", "Make it a file of this user's."
                ) from error
            raise self._refuse(error) from error
        return self._make_secret_key()

    def _make_secret_key(self) -> str:
        """Whole under its name or not there at all, whoever else makes one now; the first one stays."""
        try:
            descriptor, draft = tempfile.mkstemp(prefix=".secret_key-", dir=self.root)
            with os.fdopen(descriptor, "w", encoding="ascii") as handle:
                handle.write(secrets.token_urlsafe(48))
            try:
                with suppress(FileExistsError):
                    os.link(draft, self.secret_key_file)
            finally:
                os.unlink(draft)
            return self.secret_key_file.read_text(encoding="ascii").strip()
        except OSError as error:
            raise self._refuse(error) from error

    def _refuse(self, error: OSError) -> HomeUnusable:
        if error.errno in NO_SPACE:
            remedy = "Free some space on its disk, or set JOBCTRL_HOME to another one."
        elif error.errno == errno.EEXIST:
            remedy = "It is not a folder: set JOBCTRL_HOME to another path."
        else:
            remedy = "Make it writable for this user, or set JOBCTRL_HOME to another folder."
        return HomeUnusable(f"JOBCTRL_HOME {self.root} cannot be written ({error.strerror}).", remedy)
