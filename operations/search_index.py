"""Text search over the job list: FTS5 with the trigram tokenizer on SQLite, ``pg_trgm`` on PostgreSQL.

Installed after every ``migrate``, since altering a table on SQLite silently drops its triggers. The
triggers keep the index in step with the projection, rebuilds included. Two columns are searched: ``body``
(title, company and place) and ``place`` (place and work mode).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, connection, transaction

SHORTEST_TERM = 3
MOST_MATCHES = 5000

_BODY = "{row}.title || ' ' || {row}.company || ' ' || {row}.location"
_PLACE = "{row}.location || ' ' || CASE {row}.work_mode WHEN 'unknown' THEN '' ELSE {row}.work_mode END"
_CHANGED = " OR ".join(f"new.{name} <> old.{name}" for name in ("title", "company", "location", "work_mode"))
#: What a version without ``place`` left: made anew from the projection.
_OUTDATED = (
    *(f"DROP TRIGGER IF EXISTS job_list_search_{name}" for name in ("added", "changed", "removed")),
    "DROP TABLE IF EXISTS job_search_fts",
    "DROP TABLE IF EXISTS job_search",
)
_SQLITE = (
    "CREATE TABLE IF NOT EXISTS job_search "
    "(id INTEGER PRIMARY KEY, job_id char(32) NOT NULL UNIQUE, body text NOT NULL, place text NOT NULL)",
    "CREATE VIRTUAL TABLE IF NOT EXISTS job_search_fts "
    "USING fts5(body, place, content='job_search', content_rowid='id', tokenize='trigram')",
    "CREATE TRIGGER IF NOT EXISTS job_search_added AFTER INSERT ON job_search BEGIN "
    "INSERT INTO job_search_fts(rowid, body, place) VALUES (new.id, new.body, new.place); END",
    "CREATE TRIGGER IF NOT EXISTS job_search_changed AFTER UPDATE ON job_search BEGIN "
    "INSERT INTO job_search_fts(job_search_fts, rowid, body, place) "
    "VALUES ('delete', old.id, old.body, old.place); "
    "INSERT INTO job_search_fts(rowid, body, place) VALUES (new.id, new.body, new.place); END",
    "CREATE TRIGGER IF NOT EXISTS job_search_removed AFTER DELETE ON job_search BEGIN "
    "INSERT INTO job_search_fts(job_search_fts, rowid, body, place) "
    "VALUES ('delete', old.id, old.body, old.place); END",
    "CREATE TRIGGER IF NOT EXISTS job_list_search_added AFTER INSERT ON job_list_projections BEGIN "
    f"INSERT INTO job_search(job_id, body, place) "
    f"VALUES (new.job_id, {_BODY.format(row='new')}, {_PLACE.format(row='new')}); END",
    f"CREATE TRIGGER IF NOT EXISTS job_list_search_changed AFTER UPDATE ON job_list_projections WHEN {_CHANGED} BEGIN "
    f"UPDATE job_search SET body = {_BODY.format(row='new')}, place = {_PLACE.format(row='new')} "
    "WHERE job_id = new.job_id; END",
    "CREATE TRIGGER IF NOT EXISTS job_list_search_removed AFTER DELETE ON job_list_projections BEGIN "
    "DELETE FROM job_search WHERE job_id = old.job_id; END",
)
_FILL_SQLITE = (
    f"INSERT INTO job_search(job_id, body, place) SELECT j.job_id, {_BODY.format(row='j')}, {_PLACE.format(row='j')} "
    "FROM job_list_projections j "
    "WHERE NOT EXISTS (SELECT 1 FROM job_search s WHERE s.job_id = j.job_id)"
)
_COLUMNS = {"body": _BODY.format(row="job_list_projections"), "place": _PLACE.format(row="job_list_projections")}
_POSTGRES = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    "CREATE INDEX IF NOT EXISTS job_list_search ON job_list_projections "
    "USING gin ((title || ' ' || company || ' ' || location) gin_trgm_ops)",
    f"CREATE INDEX IF NOT EXISTS job_list_places ON job_list_projections "
    f"USING gin (({_PLACE.replace('{row}.', '')}) gin_trgm_ops)",
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
        cursor.execute("SELECT count(*), sum(name = 'place') FROM pragma_table_info('job_search')")
        columns, places = cursor.fetchone()
        for statement in (*(_OUTDATED if columns and not places else ()), *_SQLITE):
            cursor.execute(statement)
        cursor.execute(_FILL_SQLITE)


def find_matching_jobs(terms: Sequence[str], *, column: str = "body", limit: int = MOST_MATCHES) -> Matches:
    """Jobs whose ``body`` or ``place`` holds every term, the newest ``limit`` at most."""
    if connection.vendor == "postgresql":
        where = " AND ".join([f"({_COLUMNS[column]}) ILIKE %s"] * len(terms))
        statement = f"SELECT job_id FROM job_list_projections WHERE {where} LIMIT {limit + 1}"
        values = [f"%{_escape_like(term)}%" for term in terms]
    else:
        statement = (
            "SELECT s.job_id FROM job_search s WHERE s.id IN (SELECT rowid FROM job_search_fts "
            f"WHERE job_search_fts MATCH %s ORDER BY rowid DESC LIMIT {limit + 1})"
        )
        quoted = ('"' + term.replace('"', '""') + '"' for term in terms)
        values = [" AND ".join(f"{column} : {term}" for term in quoted)]
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        ids = [row[0] if isinstance(row[0], UUID) else UUID(hex=row[0]) for row in cursor.fetchall()]
    return Matches(ids[:limit], len(ids) > limit)


def _escape_like(term: str) -> str:
    return term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
