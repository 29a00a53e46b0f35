"""The product's ASGI application, counting this process's SQL statements and telling what it holds."""

import asyncio
import json
import os
import threading
from typing import Any

from django.db.backends.signals import connection_created
from django.dispatch import receiver

from jobctrl.asgi import application as product

queries = 0
_counting = threading.Lock()


def count_query(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    global queries
    with _counting:
        queries += 1
    return execute(sql, params, many, context)


@receiver(connection_created)
def watch_connection(connection: Any, **_: Any) -> None:
    connection.execute_wrappers.append(count_query)


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope.get("path") != "/test-probe":
        await product(scope, receive, send)
        return
    body = {
        "queries": queries,
        "tasks": len(asyncio.all_tasks()),
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(os.listdir("/proc/self/fd")),
    }
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": json.dumps(body).encode()})
