"""The files of a backup."""

MANIFEST = "manifest.json"
SQLITE_FILE = "jobctrl.db"
POSTGRES_FILE = "jobctrl.pgdump"
TEMPORAL_FILE = "temporal.db"
SECRET_KEY_FILE = "secret_key"
