"""The operator's window over scoring's tables."""

from django.contrib import admin

from operations.admin.tables import TableAdmin
from operations.admin.ways import NUMBER, Way, job_way
from scoring.models import JobScore, PostingAnalysis

SCORING = "Scoring"
WAYS = (job_way(then="version"), Way("id", "id", NUMBER, ("id",)))


@admin.register(JobScore)
class ScoreAdmin(TableAdmin):
    group, place = SCORING, 10
    ways = WAYS
    list_display = ("id", "job_id", "version", "value", "band", "blocked", "engine", "scored_at")


@admin.register(PostingAnalysis)
class AnalysisAdmin(TableAdmin):
    group, place = SCORING, 20
    ways = WAYS
    list_display = ("id", "job_id", "version", "snapshot_version", "engine", "analyzed_at")
