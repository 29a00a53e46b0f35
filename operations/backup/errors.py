"""Why a backup or a restore was refused."""

from operations.contracts import ErrorCode
from operations.errors import OperationsError


class BackupRefused(OperationsError):
    """No backup was made, and nothing was changed."""

    code = ErrorCode.CONFIGURATION


class RestoreRefused(OperationsError):
    """Nothing was restored, and nothing was changed."""

    code = ErrorCode.CONFIGURATION


class BackupDamaged(RestoreRefused):
    """This backup is not as it was made, so nothing was restored. Use another one."""


class RestoreUnfinished(OperationsError):
    """The backup is in place, but what comes after it failed."""
