"""``/v1/profile`` and ``/v1/discovery/sources``."""

import json
from collections.abc import Mapping
from typing import IO, Any, NoReturn

from django.core.files.uploadedfile import UploadedFile
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, NotFound
from rest_framework.parsers import BaseParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from discovery.listing import ProfileVersion, find_profile_version, find_source, list_sources
from discovery.profile_import import ProfileRefused, compare_profiles, read_profile, write_json_resume
from discovery.profile_import.decode import MAX_BYTES, decode_profile
from discovery.services.profiles import count_parts, import_profile, save_profile
from discovery.services.sources import SourceRefused, register_bundled_sources, register_source, set_source_enabled
from discovery.sources.base import SOURCES
from discovery.sources.bundled import FAMILY as BUNDLED
from operations.api.base import Operation, refusals
from operations.documents import dump_document

NAMED_AT_MOST = 20


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "A profile is at most 1 MB. Remove pictures and other embedded files from it."


class Text(serializers.CharField):
    """Text alone: a number is not taken for one."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class Switch(serializers.BooleanField):
    """``true`` or ``false``: 0 and "no" are refused."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class RawJson(BaseParser):
    """The body as it is: the profile's own reader also refuses what a JSON parser would guess about."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        return stream.read(MAX_BYTES + 1)


def refuse_fields(refused: ProfileRefused, *, within: str = "") -> NoReturn:
    """Each problem at its JSON path within the body that was sent."""
    fields: dict[str, str] = {}
    for problem in refused.problems:
        path = ".".join(part for part in (within, problem.field) if part) or "body"
        fields[path] = " ".join(part for part in (fields.get(path), problem.reason, problem.remedy) if part)
    raise serializers.ValidationError(fields)


def read_raw(request: Request) -> bytes:
    """The bytes that were sent, as a JSON body or as the ``file`` of a form. Raises ``TooLarge``."""
    sent: Any = request.data
    if isinstance(sent, bytes):
        data: bytes = sent
    elif not request.content_type.startswith("multipart/"):
        data = b""
    else:
        file = sent.get("file")
        if not isinstance(file, UploadedFile):
            raise serializers.ValidationError(
                {"file": "A JSON Resume is missing. Send it as JSON, or as the file of a form."}
            )
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise TooLarge
    return data


class ProfileOutput(serializers.Serializer[Any]):
    version = serializers.IntegerField()
    importedAt = serializers.DateTimeField(source="imported_at")
    resume = serializers.DictField()


def describe_profile(found: ProfileVersion) -> dict[str, Any]:
    body = {
        "version": found.version,
        "imported_at": found.imported_at,
        "resume": write_json_resume(found.document),
    }
    return ProfileOutput(body).data


def get_newest_profile() -> ProfileVersion:
    found = find_profile_version()
    if found is None:
        raise NotFound("There is no profile yet. Import a JSON Resume first.")
    return found


class Profile(Operation):
    parser_classes = [RawJson]

    class Input(serializers.Serializer[Any]):
        baseVersion = serializers.IntegerField(min_value=0, help_text="The version that was edited; 0 = none.")
        resume = serializers.DictField(help_text="The whole of it, as a JSON Resume.")

    @extend_schema(operation_id="getProfile", responses={200: ProfileOutput, **refusals(404)}, tags=["profile"])
    def get(self, request: Request) -> Response:
        return Response(describe_profile(get_newest_profile()))

    @extend_schema(
        operation_id="saveProfile",
        request=Input,
        responses={200: ProfileOutput, **refusals(403, 409, 413, 415)},
        tags=["profile"],
    )
    def put(self, request: Request) -> Response:
        try:
            body = decode_profile(read_raw(request))
        except ProfileRefused as refused:
            refuse_fields(refused)
        given = self.Input(data=body)
        given.is_valid(raise_exception=True)
        if unknown := [name for name in body if name not in given.fields]:
            reason = f"there is no such field; known are {', '.join(given.fields)}"
            raise serializers.ValidationError({name[:80]: reason for name in unknown[:NAMED_AT_MOST]})
        try:
            document = read_profile(json.dumps(body["resume"], ensure_ascii=False))
        except ProfileRefused as refused:
            refuse_fields(refused, within="resume")
        save_profile(document, base_version=given.validated_data["baseVersion"])
        return Response(describe_profile(get_newest_profile()))


class ImportProfile(Operation):
    parser_classes = [RawJson, MultiPartParser]
    query = (OpenApiParameter("preview", bool, description="Only say what would change; nothing is stored."),)

    class Output(serializers.Serializer[Any]):
        class ChangeOutput(serializers.Serializer[Any]):
            class FieldOutput(serializers.Serializer[Any]):
                name = serializers.CharField()
                before = serializers.CharField(allow_blank=True)
                after = serializers.CharField(allow_blank=True)

            part = serializers.ChoiceField(("basics", "link", "experience", "skill", "education", "credential"))
            change = serializers.ChoiceField(("added", "removed", "changed"))
            id = serializers.CharField()
            title = serializers.CharField(allow_blank=True)
            detail = serializers.CharField(allow_blank=True)
            added = serializers.ListField(child=serializers.CharField(), help_text="Bullets")
            removed = serializers.ListField(child=serializers.CharField(), help_text="Bullets")

            def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
                """``fields`` is a name of the serializer's own."""
                return {**super().get_fields(), "fields": self.FieldOutput(many=True)}

        version = serializers.IntegerField(help_text="The newest version; 0 = there is none.")
        stored = serializers.BooleanField(help_text="Whether this request made that version.")
        parts = serializers.DictField(child=serializers.IntegerField())
        differences = ChangeOutput(many=True)

    class Upload(serializers.Serializer[Any]):
        file = serializers.FileField(help_text="A JSON Resume of at most 1 MB.")

    @extend_schema(
        operation_id="importProfile",
        parameters=list(query),
        request={"application/json": OpenApiTypes.OBJECT, "multipart/form-data": Upload},
        responses={200: Output, **refusals(403, 409, 413, 415)},
        tags=["profile"],
    )
    def post(self, request: Request) -> Response:
        preview = request.query_params.get("preview", "false").lower()
        if preview not in ("true", "false"):
            raise serializers.ValidationError({"preview": "It is neither true nor false."})
        data = read_raw(request)
        try:
            document = read_profile(data)
        except ProfileRefused as refused:
            refuse_fields(refused)
        before = find_profile_version()
        difference = compare_profiles(before.document if before else None, document)
        version, stored = before.version if before else 0, False
        if preview == "false":
            # The version that the differences are against; a change in between is told, not overwritten.
            imported = import_profile(data, base_version=version)
            version, stored = imported.version, imported.created
        body = {
            "version": version,
            "stored": stored,
            "parts": count_parts(document),
            "differences": dump_document(difference)["changes"],
        }
        return Response(body)


class SourceOutput(serializers.Serializer[Any]):
    id = serializers.CharField()
    kind = serializers.CharField()
    board = serializers.CharField()
    family = serializers.CharField()
    label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]
    baseUrl = serializers.CharField(source="base_url", allow_blank=True)
    enabled = serializers.BooleanField()
    state = serializers.CharField()
    errorCode = serializers.CharField(source="error_code", allow_blank=True)
    jobs = serializers.IntegerField(help_text="Counted up to 1,001.")
    lastReadAt = serializers.DateTimeField(source="last_read_at", allow_null=True)
    lastCounts = serializers.DictField(source="last_counts", child=serializers.IntegerField())
    createdAt = serializers.DateTimeField(source="created_at")


class SourcesOutput(serializers.Serializer[Any]):
    sources = SourceOutput(many=True)


class Sources(Operation):
    class Input(serializers.Serializer[Any]):
        kind = serializers.ChoiceField(choices=[*sorted(SOURCES), BUNDLED])
        board = Text(max_length=100, required=False, default="", allow_blank=True)
        baseUrl = Text(max_length=400, required=False, default="", allow_blank=True)
        label = Text(max_length=120, required=False, default="", allow_blank=True)  # type: ignore[assignment]

    class Change(serializers.Serializer[Any]):
        id = Text(max_length=160)
        enabled = Switch()

    @extend_schema(operation_id="listSources", responses={200: SourcesOutput, **refusals()}, tags=["discovery"])
    def get(self, request: Request) -> Response:
        return Response(SourcesOutput({"sources": list_sources()}).data)

    @extend_schema(
        operation_id="addSource",
        description='Add a board; the kind "bundled" adds the sample boards. Adding one again changes nothing.',
        request=Input,
        responses={200: SourcesOutput, **refusals(403, 413, 415)},
        tags=["discovery"],
    )
    def post(self, request: Request) -> Response:
        given = self.read_input(self.Input, request)
        try:
            added = (
                register_bundled_sources()
                if given["kind"] == BUNDLED
                else [register_source(given["kind"], given["board"], base_url=given["baseUrl"], label=given["label"])]
            )
        except SourceRefused as refused:
            name = {"base_url": "baseUrl"}.get(refused.field, refused.field)
            raise serializers.ValidationError({name: refused.reason}) from None
        rows = [row for source_id in added if (row := find_source(source_id))]
        return Response(SourcesOutput({"sources": rows}).data)

    @extend_schema(
        operation_id="changeSource", request=Change, responses={200: SourceOutput, **refusals(403, 404, 413, 415)},
        tags=["discovery"],
    )  # fmt: skip
    def patch(self, request: Request) -> Response:
        given = self.read_input(self.Change, request)
        set_source_enabled(given["id"], enabled=given["enabled"])
        return Response(SourceOutput(find_source(given["id"])).data)
