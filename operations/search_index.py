"""Text search over the job list: FTS5 with the trigram tokenizer on SQLite, ``pg_trgm`` on PostgreSQL.

Installed after every ``migrate``, since altering a table on SQLite silently drops its triggers. The
triggers keep the index in step with the projection, rebuilds included.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, connection, transaction

SHORTEST_TERM = 3
MOST_MATCHES = 5000

_BODY = "{row}.title || ' ' || {row}.company || ' ' || {row}.location"
_CHANGED = "new.title <> old.title OR new.company <> old.company OR new.location <> old.location"
_SQLITE = (
    "CREATE TABLE IF NOT EXISTS job_search "
    "(id INTEGER PRIMARY KEY, job_id char(32) NOT NULL UNIQUE, body text NOT NULL)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS job_search_fts "
    "USING fts5(body, content='job_search', content_rowid='id', tokenize='trigram')",
    "CREATE TRIGGER IF NOT EXISTS job_search_added AFTER INSERT ON job_search BEGIN "
    "INSERT INTO job_search_fts(rowid, body) VALUES (new.id, new.body); END",
    "CREATE TRIGGER IF NOT EXISTS job_search_changed AFTER UPDATE ON job_search BEGIN "
    "INSERT INTO job_search_fts(job_search_fts, rowid, body) VALUES ('delete', old.id, old.body); "
    "INSERT INTO job_search_fts(rowid, body) VALUES (new.id, new.body); END",
    "CREATE TRIGGER IF NOT EXISTS job_search_removed AFTER DELETE ON job_search BEGIN "
    "INSERT INTO job_search_fts(job_search_fts, rowid, body) VALUES ('delete', old.id, old.body); END",
    "CREATE TRIGGER IF NOT EXISTS job_list_search_added AFTER INSERT ON job_list_projections BEGIN "
    f"INSERT INTO job_search(job_id, body) VALUES (new.job_id, {_BODY.format(row='new')}); END",
    f"CREATE TRIGGER IF NOT EXISTS job_list_search_changed AFTER UPDATE ON job_list_projections WHEN {_CHANGED} BEGIN "
    f"UPDATE job_search SET body = {_BODY.format(row='new')} WHERE job_id = new.job_id; END",
    "CREATE TRIGGER IF NOT EXISTS job_list_search_removed AFTER DELETE ON job_list_projections BEGIN "
    "DELETE FROM job_search WHERE job_id = old.job_id; END",
)
_FILL_SQLITE = (
    f"INSERT INTO job_search(job_id, body) SELECT j.job_id, {_BODY.format(row='j')} FROM job_list_projections j "
    "WHERE NOT EXISTS (SELECT 1 FROM job_search s WHERE s.job_id = j.job_id)"
)
_POSTGRES = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX IF NOT EXISTS job_list_search ON job_list_projections "
    "USING gin ((title || ' ' || company || ' ' || location) gin_trgm_ops)",
)


@dataclass(frozen=True, slots=True)
class Matches:
    """``truncated`` = there are more than these, the newest."""

    job_ids: list[UUID]
    truncated: bool


def install_search() -> None:
    """Idempotent. Without leave to create the extension on PostgreSQL, searches scan; doctor says so."""
    if "job_list_projections" not in connection.introspection.table_names():
        return
    if connection.vendor == "postgresql":
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                for statement in _POSTGRES:
                    cursor.execute(statement)
        except DatabaseError:
            return
        return
    with connection.cursor() as cursor:
        for statement in _SQLITE:
            cursor.execute(statement)
        cursor.execute(_FILL_SQLITE)


def find_matching_jobs(terms: Sequence[str], *, limit: int = MOST_MATCHES) -> Matches:
    """Jobs whose title, company or place holds every term, the newest ``limit`` at most."""
    if connection.vendor == "postgresql":
        where = " AND ".join(["(title || ' ' || company || ' ' || location) ILIKE %s"] * len(terms))
        statement = f"SELECT job_id FROM job_list_projections WHERE {where} LIMIT {limit + 1}"
        values = [f"%{_escape_like(term)}%" for term in terms]
    else:
        statement = (
            "SELECT s.job_id FROM job_search s WHERE s.id IN (SELECT rowid FROM job_search_fts "
            f"WHERE job_search_fts MATCH %s ORDER BY rowid DESC LIMIT {limit + 1})"
        )
        values = [" AND ".join('"' + term.replace('"', '""') + '"' for term in terms)]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        ids = [row[0] if isinstance(row[0], UUID) else UUID(hex=row[0]) for row in cursor.fetchall()]
    return Matches(ids[:limit], len(ids) > limit)


def _escape_like(term: str) -> str:
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
