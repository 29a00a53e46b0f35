"""``/v1/views``: saved filters of a page."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import Operation, refusals
from operations.listing.paging import QueryReader
from operations.services.saved_views import PAGES, delete_view, list_views, save_view


class ViewOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    page = serializers.CharField()
    name = serializers.CharField()
    query = serializers.CharField(allow_blank=True)


class SavedViews(Operation):
    query = (OpenApiParameter("page", str, enum=PAGES),)

    class Input(serializers.Serializer[Any]):
        page = serializers.ChoiceField(choices=PAGES)
        name = serializers.CharField(max_length=80)
        query = serializers.CharField(max_length=1000, allow_blank=True)

    class Output(serializers.Serializer[Any]):
        views = ViewOutput(many=True)

    @extend_schema(
        operation_id="listViews",
        parameters=list(query),
        responses={200: Output, **refusals()},
        tags=["views"],
    )
    def get(self, request: Request) -> Response:
        reader = QueryReader(request.query_params)
        page = reader.choice("page", PAGES)
        reader.finish()
        rows = list_views(request.user, page=page)
        return Response({"views": ViewOutput(rows, many=True).data})

    @extend_schema(
        operation_id="saveView",
        description="A second one of the same name replaces the first.",
        request=Input,
        responses={200: ViewOutput, **refusals(403, 413, 415)},
        tags=["views"],
    )
    def post(self, request: Request) -> Response:
        given = self.read_input(self.Input, request)
        saved = save_view(request.user, page=given["page"], name=given["name"], query=given["query"])
        return Response(ViewOutput(saved).data)


class SavedViewItem(Operation):
    @extend_schema(operation_id="deleteView", responses={204: None, **refusals(403, 404)}, tags=["views"])
    def delete(self, request: Request, view_id: int) -> Response:
        if not delete_view(request.user, view_id):
            raise NotFound("There is no such view.")
        return Response(status=204)
