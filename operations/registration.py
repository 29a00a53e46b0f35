"""What the worker runs: workflows and activities declared by each app's modules of those names."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from django.apps import apps
from temporalio import workflow


def collect_workflows() -> list[type]:
    """Every class in an app's ``workflows`` (a module, or a package of them) that carries a Temporal definition."""
    return [
        value
        for found in _iter_modules("workflows")
        for module in _iter_parts(found)
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and _is_workflow(value)
    ]


def collect_activities() -> list[Callable[..., Any]]:
    """The ``ACTIVITIES`` list of every app's ``activities.py``."""
    return [function for module in _iter_modules("activities") for function in module.ACTIVITIES]


def _iter_parts(module: Any) -> Iterator[Any]:
    yield module
    for part in iter_modules(getattr(module, "__path__", ())):
        yield import_module(f"{module.__name__}.{part.name}")


def _is_workflow(value: type) -> bool:
    return workflow._Definition.from_class(value) is not None


def _iter_modules(name: str) -> list[Any]:
    found = []
    for config in apps.get_app_configs():
        path = f"{config.name}.{name}"
        if config.name.startswith("django.") or config.name == "rest_framework" or find_spec(path) is None:
            continue
        found.append(import_module(path))
    return found
