"""``/v1/artifacts``: the registered files and their content."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from materials.artifact_files import ArtifactError
from materials.queries import find_artifact, get_artifact_files, page_artifacts
from operations.api.base import PAGING, Operation, refusals
from operations.listing.paging import QueryReader

FILE_NAMES = {"resume_pdf": "resume.pdf", "letter_pdf": "cover-letter.pdf"}


class ArtifactOutput(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    jobId = serializers.UUIDField(source="job_id")
    kind = serializers.CharField()
    sha256 = serializers.CharField()
    size = serializers.IntegerField()
    pages = serializers.IntegerField()


class ListArtifacts(Operation):
    query = (OpenApiParameter("jobId", OpenApiTypes.UUID, description="Only this job's."), *PAGING)

    class Output(serializers.Serializer[Any]):
        artifacts = ArtifactOutput(many=True)
        nextCursor = serializers.CharField(allow_blank=True)

    @extend_schema(
        operation_id="listArtifacts",
        parameters=list(query),
        responses={200: Output, **refusals()},
        tags=["artifacts"],
    )
    def get(self, request: Request) -> Response:
        reader = QueryReader(request.query_params)
        job_id = reader.uuid("jobId")
        reader.finish()
        rows, next_cursor = page_artifacts(
            job_id, cursor=request.query_params.get("cursor", ""), limit=self.read_limit(request)
        )
        return Response({"artifacts": ArtifactOutput(rows, many=True).data, "nextCursor": next_cursor})


class ShowArtifactContent(Operation):
    @extend_schema(
        operation_id="getArtifactContent",
        responses={(200, "application/pdf"): OpenApiTypes.BINARY, **refusals(404)},
        tags=["artifacts"],
    )
    def get(self, request: Request, artifact_id: UUID) -> HttpResponseBase:
        return answer_artifact(artifact_id)


def answer_artifact(artifact_id: UUID) -> HttpResponse:
    """The file, verified against its hash; 404 where it is unknown, gone or damaged."""
    row = find_artifact(artifact_id)
    if row is None:
        raise NotFound("There is no such document.")
    try:
        data = get_artifact_files().read(row.sha256)
    except ArtifactError:
        raise NotFound("The file of this document is missing or damaged. Retry its pdf stage.") from None
    response = HttpResponse(data, content_type="application/pdf")
    response["Content-Disposition"] = f'inline; filename="{FILE_NAMES.get(row.kind, "document.pdf")}"'
    response["ETag"] = f'"{row.sha256}"'
    response["Cache-Control"] = "private, max-age=3600"
    return response
