"""Django settings. Every value an operator may set comes from the environment or ``.env``."""

from pathlib import Path

import environ

from jobctrl.home import Home

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(env.str("JOBCTRL_ENV_FILE", default=str(BASE_DIR / ".env")))

JOBCTRL_HOME = Home(Path(env.str("JOBCTRL_HOME", default="~/.jobctrl")).expanduser().resolve())

SECRET_KEY = env.str("SECRET_KEY", default="") or JOBCTRL_HOME.read_secret_key()
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "jobctrl",
    "operations",
    "discovery",
    "scoring",
    "materials",
    "apply",
    "outreach",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

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
            ],
            "loaders": [
                "django.template.loaders.filesystem.Loader",
                "django.template.loaders.app_directories.Loader",
            ],
        },
    }
]

DATABASE_URL = env.str("DATABASE_URL", default=f"sqlite:///{JOBCTRL_HOME.database}")
DATABASES = {"default": env.db_url_config(DATABASE_URL)}
DATABASES["default"]["ATOMIC_REQUESTS"] = False
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=0; PRAGMA temp_store=FILE;"
        ),
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = BASE_DIR / "staticfiles"

TENANT_ID = "local"
TEMPORAL_ADDRESS = env.str("TEMPORAL_ADDRESS", default="")
TEMPORAL_NAMESPACE = env.str("TEMPORAL_NAMESPACE", default="default")
TEMPORAL_TLS_CERT = env.str("TEMPORAL_TLS_CERT", default="")
TEMPORAL_TLS_KEY = env.str("TEMPORAL_TLS_KEY", default="")
TEMPORAL_TLS_CA = env.str("TEMPORAL_TLS_CA", default="")
TEMPORAL_TLS_SERVER_NAME = env.str("TEMPORAL_TLS_SERVER_NAME", default="")
JOBCTRL_TEMPORAL_PORT = env.int("JOBCTRL_TEMPORAL_PORT", default=7233)
JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS = env.float("JOBCTRL_ACTIVITY_HEARTBEAT_SECONDS", default=20.0)
JOBCTRL_ALLOW_PRIVATE_HOSTS = env.list("JOBCTRL_ALLOW_PRIVATE_HOSTS", default=[])
CHROMIUM_PATH = env.str("CHROMIUM_PATH", default="")
JOBCTRL_MINIMUM_FREE_MB = env.int("JOBCTRL_MINIMUM_FREE_MB", default=200)

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="INFO")},
    "loggers": {
        "httpx": {"level": "WARNING"},
        "trafilatura": {"level": "CRITICAL"},
    },
}
