"""``/v1/settings``: every declared key with its value, default and range; changes are all or none."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from operations.api.base import Operation, refusals
from operations.settings_store import change_settings, get_setting, list_settings


class SettingsOutput(serializers.Serializer[Any]):
    class SettingOutput(serializers.Serializer[Any]):
        key = serializers.CharField()
        value = serializers.JSONField()
        default = serializers.JSONField()
        allowed = serializers.CharField()
        takesEffect = serializers.CharField(source="effect")
        label = serializers.CharField(allow_blank=True)  # type: ignore[assignment]

    settings = SettingOutput(many=True)


def describe_settings() -> dict[str, Any]:
    rows = [
        {
            "key": setting.key,
            "value": get_setting(setting.key),
            "default": setting.default,
            "allowed": setting.allowed,
            "effect": setting.effect,
            "label": setting.label,
        }
        for setting in list_settings()
    ]
    return SettingsOutput({"settings": rows}).data


class Settings(Operation):
    @extend_schema(operation_id="getSettings", responses={200: SettingsOutput, **refusals()}, tags=["settings"])
    def get(self, request: Request) -> Response:
        return Response(describe_settings())

    @extend_schema(
        operation_id="changeSettings",
        request=OpenApiTypes.OBJECT,
        responses={200: SettingsOutput, **refusals(403, 413, 415)},
        tags=["settings"],
    )
    def patch(self, request: Request) -> Response:
        if not isinstance(request.data, dict) or not request.data:
            raise serializers.ValidationError({"body": "it must be an object of settings by key"})
        change_settings(dict(request.data), actor=self.read_actor(request))
        return Response(describe_settings())
