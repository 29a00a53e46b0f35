"""Frozen dataclasses to JSON and back, through pydantic (imported when first used)."""

from typing import Any, TypeVar

T = TypeVar("T")

_adapters: dict[Any, Any] = {}


def _adapter(cls: Any) -> Any:
    if cls not in _adapters:
        from pydantic import TypeAdapter

        _adapters[cls] = TypeAdapter(cls)
    return _adapters[cls]


def dump_document(document: Any) -> Any:
    """Plain JSON values (dicts, lists, strings, numbers)."""
    return _adapter(type(document)).dump_python(document, mode="json")


def load_document(cls: type[T], data: Any) -> T:
    """The dataclass again; raises ``pydantic.ValidationError`` for what is not of its shape."""
    result: T = _adapter(cls).validate_python(data)
    return result
