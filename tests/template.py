"""A migrated, empty database that workspaces are copied from: migrating takes seconds, and few tests are about that."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.postgres import own_database
from tests.warm import get_warm

MIGRATE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Template:
    """``url`` is "" on SQLite; there is no file on PostgreSQL."""

    file: Path
    url: str = ""

    @contextmanager
    def copied(self, home: Path) -> Iterator[str]:
        """A database of its own for the workspace in ``home``, which must exist; yields its DATABASE_URL."""
        with own_database(self.url, template=self.url.rpartition("/")[2]) as url:
            if not url:
                shutil.copyfile(self.file, home / self.file.name)
            yield url or f"sqlite:///{home / self.file.name}"


@contextmanager
def migrated_template(folder: Path) -> Iterator[Template]:
    """On the kind of database that this run of the suite is about."""
    with own_database(os.environ.get("DATABASE_URL", "")) as url:
        file = folder / "jobctrl.db"
        chosen = {"JOBCTRL_HOME": str(folder), "SECRET_KEY": "of-a-test", "DATABASE_URL": url or f"sqlite:///{file}"}
        migrate = ("manage.py", "migrate", "--verbosity", "0")
        done = get_warm().run(*migrate, environment={**os.environ, **chosen}, seconds=MIGRATE_SECONDS)
        assert done.returncode == 0, done.stderr
        yield Template(file, url)
