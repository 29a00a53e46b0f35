"""Opening the admin's pages as the operator does."""

import re
from typing import Any

from django.contrib import admin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client
from django.urls import reverse

from operations.access.accounts import ensure_operator
from operations.admin.tables import TableAdmin


def sign_in() -> Client:
    operator = Client()
    operator.force_login(ensure_operator())
    return operator


def list_tables() -> list[TableAdmin]:
    return [table for table in admin.site._registry.values() if isinstance(table, TableAdmin)]


def name_table(table: TableAdmin) -> str:
    return f"{table.opts.app_label}_{table.opts.model_name}"


def list_url(table: TableAdmin | str) -> str:
    return reverse(f"admin:{table if isinstance(table, str) else name_table(table)}_changelist")


def row_url(table: TableAdmin | str, key: object) -> str:
    return reverse(f"admin:{table if isinstance(table, str) else name_table(table)}_change", args=[key])


def act(operator: Client, table: str, action: str, *keys: object, **fields: str) -> Any:
    """Choose rows of a list and an action above it; the page that follows."""
    chosen = {ACTION_CHECKBOX_NAME: [str(key) for key in keys], "action": action, "index": "0", **fields}
    if "confirmed" in fields:
        del chosen["index"]
    return operator.post(list_url(table), chosen, follow=True)


def read_messages(page: Any) -> list[str]:
    return [str(message) for message in page.context["messages"]]


def list_inline_parts(text: str) -> list[str]:
    """What the content policy refuses."""
    return re.findall(r"<style\b|\sstyle=|<script(?![^>]*\ssrc=)[^>]*>|\son[a-z]+=", text)
