from datetime import timedelta
from typing import Any

from django.db import migrations, models

SLICE = 1000


def measure_ended_runs(apps: Any, _editor: object) -> None:
    """What the fold gives from now on, for the runs that ended before."""
    runs = apps.get_model("operations", "WorkflowRunProjection").objects
    ended = runs.filter(started_at__isnull=False, ended_at__isnull=False, provisional=False).order_by("run_id")
    last = ""
    while rows := list(ended.filter(run_id__gt=last)[:SLICE]):
        for row in rows:
            row.duration_ms = max((row.ended_at - row.started_at) // timedelta(milliseconds=1), 0)
        runs.bulk_update(rows, ["duration_ms"])
        last = rows[-1].run_id


class Migration(migrations.Migration):
    dependencies = [
        ("operations", "0004_remember_pending_activities"),
    ]

    operations = [
        migrations.AddField(
            model_name="workflowrunprojection",
            name="duration_ms",
            field=models.BigIntegerField(default=-1),
        ),
        migrations.RunPython(measure_ended_runs, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="workflowrunprojection",
            index=models.Index(fields=["-duration_ms", "-run_id"], name="longest_runs"),
        ),
    ]
