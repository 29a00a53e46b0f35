"""A profile as plain JSON values, and back."""

from functools import cache
from typing import TYPE_CHECKING, cast

from discovery.contracts import ProfileDocument
from discovery.profile_import.problems import ProfileRefused
from discovery.profile_import.wording import explain_errors

if TYPE_CHECKING:
    from pydantic import TypeAdapter


def dump_profile(document: ProfileDocument) -> dict[str, object]:
    return cast("dict[str, object]", _get_adapter().dump_python(document, mode="json"))


def load_profile(data: dict[str, object]) -> ProfileDocument:
    """The document that ``dump_profile`` wrote. Raises ProfileRefused where the stored value is not one."""
    from pydantic import ValidationError

    try:
        return _get_adapter().validate_python(data)
    except ValidationError as error:
        raise ProfileRefused(explain_errors(error.errors(include_url=False, include_input=False))) from None


@cache
def _get_adapter() -> "TypeAdapter[ProfileDocument]":
    from pydantic import TypeAdapter

    return TypeAdapter(ProfileDocument)
