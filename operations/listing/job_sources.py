"""Which sources the listed jobs came from."""

from typing import Final

from django.db import connection

MOST_SOURCES: Final = 200

# One step down the index of sources for each; DISTINCT would read every job.
_STEPS: Final = """
WITH RECURSIVE found(source, place) AS (
    SELECT (SELECT min(source) FROM job_list_projections WHERE NOT deleted AND NOT hidden), 1
    UNION ALL
    SELECT (SELECT min(j.source) FROM job_list_projections j
            WHERE NOT j.deleted AND NOT j.hidden AND j.source > found.source), place + 1
    FROM found WHERE found.source IS NOT NULL AND place <= %s
)
SELECT source FROM found WHERE source <> '' ORDER BY source
"""


def list_job_sources() -> list[str]:
    """Of the visible jobs, the first 200 at most; as many index look-ups as there are sources."""
    with connection.cursor() as cursor:
        cursor.execute(_STEPS, [MOST_SOURCES])
        return [str(row[0]) for row in cursor.fetchall()][:MOST_SOURCES]


def name_source(source: str) -> str:
    """``greenhouse:acme`` as people read it: ``Greenhouse · acme``."""
    kind, _, board = source.partition(":")
    return f"{kind.capitalize()} · {board}" if board else kind.capitalize()
