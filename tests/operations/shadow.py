"""A throw-away app called ``shadow``: its projection counts the settings changes of each actor."""

from typing import Any

from django.db import connection, models
from django.test.utils import isolate_apps

from operations.database import writer
from operations.eventlog import LoggedEvent, append
from operations.events import SettingsChanged
from operations.folding import fold, project
from operations.models import ProjectionWatermark

SECRET = "the exception quotes a posting"


class ShadowApp:
    """``trouble`` is what happens to events of the actor ``bad``: "" | "fold" | "key" | "row". With "both" its fold
    raises, and the key of the actor ``worse``."""

    name = "shadow"

    def __init__(self) -> None:
        self.trouble = ""
        with connection.cursor() as cursor:
            cursor.execute(
                "CREATE TABLE shadow_counters "
                "(tenant_id varchar(40) NOT NULL, actor varchar(40) PRIMARY KEY, seen integer NOT NULL)"
            )
        with isolate_apps():

            class Counter(models.Model):
                tenant_id = models.CharField(max_length=40)
                actor = models.CharField(max_length=40, primary_key=True)
                seen = models.IntegerField(default=0)

                class Meta:
                    app_label = "shadow"
                    db_table = "shadow_counters"

                def __str__(self) -> str:
                    return self.actor

        self.table = project(Counter, key_of=self._key_of)
        fold(self.table, "SettingsChanged", reads=("actor",))(self._count)

    def _key_of(self, event: LoggedEvent) -> object:
        if (self.trouble, event.payload["actor"]) in (("key", "bad"), ("both", "worse")):
            raise KeyError(SECRET)
        return event.payload["actor"]

    def _count(self, row: Any, event: LoggedEvent) -> None:
        if event.payload["actor"] == "bad":
            if self.trouble in ("fold", "both"):
                raise ValueError(SECRET)
            if self.trouble == "row":
                row.seen = None
                return
        row.seen = (row.seen or 0) + 1

    def write(self, *actors: str) -> int:
        """One write with one event an actor; the id of its first."""
        with writer():
            logged = [append(SettingsChanged(keys=(), actor=actor)) for actor in actors]
        first = logged[0]
        assert first is not None
        return first.id

    def read(self) -> dict[str, int]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT actor, seen FROM shadow_counters")
            return dict(cursor.fetchall())

    def mark(self, app: str = "shadow") -> ProjectionWatermark:
        return ProjectionWatermark.objects.get(app=app)
