"""Django settings. Every value an operator may set comes from the environment or ``.env``."""

import hashlib
import os
import secrets
import sys
import warnings
from pathlib import Path
from typing import Any, TypeVar

import environ
from django.core.exceptions import ImproperlyConfigured

from jobctrl.home import Home, HomeUnusable

Number = TypeVar("Number", int, float)

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(env.str("JOBCTRL_ENV_FILE", default=str(BASE_DIR / ".env")))

JOBCTRL_HOME = Home.at(env.str("JOBCTRL_HOME", default="") or "~/.jobctrl")


def _read_number(name: str, default: Number, *, least: float = 0, most: float = 10**9) -> Number:
    """Raises ``ImproperlyConfigured`` naming the setting and what it takes."""
    text = env.str(name, default=str(default))
    try:
        number = type(default)(text)
    except ValueError:
        number = type(default)(-1)
    if not least <= number <= most:
        kind = "a whole number" if isinstance(default, int) else "a number"
        raise ImproperlyConfigured(
            f"{name} {text!r} is not {kind} from {least:g} to {most:.0f}. Correct it, or unset it: {default}."
        )
    return number


def _read_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    """Raises ``ImproperlyConfigured`` naming the setting and what it takes."""
    text: str = env.str(name, default="") or default
    text = next((choice for choice in choices if choice.casefold() == text.casefold()), text)
    if text not in choices:
        raise ImproperlyConfigured(f"{name} {text!r} is not one of {', '.join(choices)}. Correct it, or unset it.")
    return text


def _read_database(url: str) -> dict[str, Any]:
    """The URL is never quoted: it holds a password."""
    try:
        with warnings.catch_warnings(action="ignore"):  # they quote it
            config: dict[str, Any] = env.db_url_config(url)
    except ValueError:
        config = {}
    if not config.get("ENGINE", "").endswith((".sqlite3", ".postgresql", ".postgis")):
        raise ImproperlyConfigured(
            "DATABASE_URL is not the address of a database that this works with. Write "
            "postgres://USER:PASSWORD@HOST:PORT/NAME, or unset it to use the file in the workspace."
        )
    return config


def _read_secret_key() -> str:
    try:
        return JOBCTRL_HOME.read_secret_key()
    except HomeUnusable:
        if "doctor" not in sys.argv[1:]:  # which lists what is wrong, the home among it, and signs nothing
            raise
        return secrets.token_urlsafe()


SECRET_KEY = env.str("SECRET_KEY", default="") or _read_secret_key()
DEBUG = env.bool("DEBUG", default=False)
JOBCTRL_WEB_ADDRESS = env.str("JOBCTRL_WEB_ADDRESS", default="127.0.0.1:8420")
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *env.list("ALLOWED_HOSTS", default=[])]
if (_web_host := JOBCTRL_WEB_ADDRESS.rpartition(":")[0]) not in ("", "0.0.0.0", "[::]", "*"):
    ALLOWED_HOSTS.append(_web_host)

INSTALLED_APPS = [
    "operations.admin_config.OperatorAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "jobctrl",
    "operations",
    "discovery",
    "scoring",
    "materials",
    "apply",
    "outreach",
]

MIDDLEWARE = [
    "operations.access.middleware.CheckRequest",
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "operations.access.middleware.Sessions",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "operations.access.middleware.RequireSignIn",
]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "object-src": ["'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# Cookies know no ports: programs on 127.0.0.1 see each other's, and two workspaces must not sign each other out.
_cookie_suffix = hashlib.sha256(str(JOBCTRL_HOME.root).encode()).hexdigest()[:8]
SESSION_COOKIE_NAME = f"jobctrl_session_{_cookie_suffix}"
SESSION_COOKIE_AGE = 14 * 24 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = f"jobctrl_csrf_{_cookie_suffix}"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "operations.access.refusals.refuse_csrf"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
DATA_UPLOAD_MAX_MEMORY_SIZE = 4_000_000
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000  # a long career, edited as one form
DATA_UPLOAD_MAX_NUMBER_FILES = 10

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["operations.access.authentication.ActorAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "operations.api.parsers.IgnoreAccept",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_PARSER_CLASSES": ["operations.api.parsers.StrictJson"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "operations.api.errors.answer_error",
    "URL_FORMAT_OVERRIDE": None,  # ?format= is the lists' own
}
SPECTACULAR_SETTINGS = {
    "TITLE": "jobctrl",
    "DESCRIPTION": "What the pages do, for scripts. A token is made on the settings page.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "PREPROCESSING_HOOKS": ["operations.api.schema.add_stream"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "operations.api.schema.finish_schema",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    # No deep links: each would be a link inside a button, which no keyboard or screen reader can tell apart.
    "SWAGGER_UI_SETTINGS": {"deepLinking": False, "docExpansion": "list", "validatorUrl": None},
}

ROOT_URLCONF = "jobctrl.urls"
ASGI_APPLICATION = "jobctrl.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "operations.context.add_shell",
            ],
            # Named loaders are cached only where that is said; without it each page compiles its templates each time.
            "loaders": [
                (
                    "django.template.loaders.cached.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
        },
    }
]

# The workspace's own file is named as it is: a URL would read a "+" in its path as a space.
DATABASE_URL = env.str("DATABASE_URL", default="")
DATABASES = {"default": _read_database(DATABASE_URL or "sqlite://")}
if not DATABASE_URL:
    DATABASES["default"]["NAME"] = str(JOBCTRL_HOME.database)
DATABASES["default"]["ATOMIC_REQUESTS"] = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA temp_store=FILE; "
            "PRAGMA recursive_triggers=ON;"  # else REPLACE deletes from the event log past its guard
        ),
    }
    # Its temporary files lie where room is checked before work starts, not on whatever disk TMPDIR is.
    os.environ.setdefault("SQLITE_TMPDIR", str(JOBCTRL_HOME.root))
else:
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"

TENANT_ID = "local"
TEMPORAL_ADDRESS = env.str("TEMPORAL_ADDRESS", default="")
TEMPORAL_NAMESPACE = env.str("TEMPORAL_NAMESPACE", default="default")
TEMPORAL_UI_URL = env.str("TEMPORAL_UI_URL", default="")
TEMPORAL_TLS_CERT = env.str("TEMPORAL_TLS_CERT", default="")
TEMPORAL_TLS_KEY = env.str("TEMPORAL_TLS_KEY", default="")
TEMPORAL_TLS_CA = env.str("TEMPORAL_TLS_CA", default="")
TEMPORAL_TLS_SERVER_NAME = env.str("TEMPORAL_TLS_SERVER_NAME", default="")
JOBCTRL_TEMPORAL_PORT = _read_number("JOBCTRL_TEMPORAL_PORT", 7233, most=65535)
JOBCTRL_TEMPORAL_UI_PORT = env.str("JOBCTRL_TEMPORAL_UI_PORT", default="")
JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS = _read_number("JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS", 20.0, least=1, most=300)
JOBCTRL_ALLOW_PRIVATE_HOSTS = env.list("JOBCTRL_ALLOW_PRIVATE_HOSTS", default=[])
CHROMIUM_PATH = env.str("CHROMIUM_PATH", default="")
JOBCTRL_MINIMUM_FREE_MB = _read_number("JOBCTRL_MINIMUM_FREE_MB", 200)

# The event stream (operations/streaming says what of django-eventstream is used).
EVENTSTREAM_STORAGE_CLASS = "operations.streaming.storage.JobEventStorage"
EVENTSTREAM_CHANNELMANAGER_CLASS = "operations.streaming.channel_manager.SignedInChannelManager"
JOBCTRL_STREAM_COMMENT_SECONDS = _read_number("JOBCTRL_STREAM_COMMENT_SECONDS", 15.0, least=0.1, most=3600)
JOBCTRL_STREAM_HEARTBEAT_SECONDS = _read_number("JOBCTRL_STREAM_HEARTBEAT_SECONDS", 30.0, least=0.1, most=3600)
JOBCTRL_STREAM_STALL_SECONDS = _read_number("JOBCTRL_STREAM_STALL_SECONDS", 30.0, least=0.1, most=3600)

# What watches it from outside (README, "Watching it").
JOBCTRL_WORKER_METRICS_ADDRESS = env.str("JOBCTRL_WORKER_METRICS_ADDRESS", default="")
# Model providers. A key may also lie in the file keys/NAME of the home; neither is ever stored or shown.
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.str("OPENAI_BASE_URL", default="")
ANTHROPIC_API_KEY = env.str("ANTHROPIC_API_KEY", default="")
ANTHROPIC_BASE_URL = env.str("ANTHROPIC_BASE_URL", default="")
GOOGLE_API_KEY = env.str("GOOGLE_API_KEY", default="")
GOOGLE_BASE_URL = env.str("GOOGLE_BASE_URL", default="")
JOBCTRL_MODEL_SECONDS = env.str("JOBCTRL_MODEL_SECONDS", default="150")

OTEL_EXPORTER_OTLP_ENDPOINT = env.str("OTEL_EXPORTER_OTLP_ENDPOINT", default="")
LOG_LEVEL = _read_choice(
    "LOG_LEVEL", "INFO", ("NOTSET", "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL")
)
LOG_FORMAT = _read_choice("LOG_FORMAT", "text", ("text", "json"))

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"ids": {"()": "operations.log_lines.AddIds"}},
    "formatters": {
        "text": {"()": "operations.log_lines.TextLines"},
        "json": {"()": "operations.log_lines.JsonLines"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["ids"]}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "anthropic": {"level": "WARNING"},
        "google_genai": {"level": "ERROR"},
        "django_eventstream": {"level": "WARNING"},
        "trafilatura": {"level": "CRITICAL"},
        "psycopg": {"level": "ERROR"},  # its warnings quote the server, and the server quotes rows
    },
}
