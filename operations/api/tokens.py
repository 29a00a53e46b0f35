"""``/v1/auth/tokens``: leave for scripts; a token is shown once, when it is made."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from operations.access.tokens import create_token, list_tokens, revoke_token
from operations.api.base import Operation, refusals


class TokenOutput(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    hint = serializers.CharField(help_text="Its last characters.")
    createdAt = serializers.DateTimeField(source="created_at")
    lastUsedAt = serializers.DateTimeField(source="last_used_at", allow_null=True)


class Tokens(Operation):
    class Input(serializers.Serializer[Any]):
        label = serializers.CharField(max_length=80, help_text="What it is for.")  # type: ignore[assignment]

    class Output(serializers.Serializer[Any]):
        tokens = TokenOutput(many=True)

    class Created(TokenOutput):
        token = serializers.CharField(help_text="The token itself; it is shown this once.")

    @extend_schema(operation_id="listTokens", responses={200: Output, **refusals()}, tags=["auth"])
    def get(self, request: Request) -> Response:
        return Response({"tokens": TokenOutput(list_tokens(request.user), many=True).data})  # type: ignore[arg-type]

    @extend_schema(
        operation_id="createToken", request=Input, responses={200: Created, **refusals(403, 413, 415)}, tags=["auth"]
    )
    def post(self, request: Request) -> Response:
        given = self.read_input(self.Input, request)
        row, token = create_token(request.user, label=given["label"], now=timezone.now())  # type: ignore[arg-type]
        response = Response({**TokenOutput(row).data, "token": token})
        response["Cache-Control"] = "no-store"
        return response


class Token(Operation):
    @extend_schema(operation_id="revokeToken", responses={204: None, **refusals(403, 404)}, tags=["auth"])
    def delete(self, request: Request, token_id: int) -> Response:
        if not revoke_token(token_id, user=request.user, now=timezone.now()):  # type: ignore[arg-type]
            raise NotFound("There is no such token, or it was revoked before.")
        return Response(status=204)
