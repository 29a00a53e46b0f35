"""Materials' files: what a backup takes along."""

from operations.backup.declaration import FileTable, declare_files

declare_files(
    FileTable(
        table="artifacts",
        folder="artifacts",
        path_column="relative_path",
        sha256_column="sha256",
        size_column="size",
    )
)
