"""What lint-imports cannot see: what it is not told of, and models that pass through public modules."""

import ast
import importlib
import inspect
import tomllib
from collections.abc import Iterator
from pathlib import Path

from django.db.models import Model

ROOT = Path(__file__).resolve().parents[1]
PACKAGES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


def test_every_package_is_one_that_it_reads() -> None:
    found = {path.parent.name for path in ROOT.glob("*/*.py")} - {"tests"}
    assert found == set(PACKAGES)


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for package in PACKAGES for path in (ROOT / package).rglob("*.py")}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").is_file()] == []


def test_no_app_takes_another_ones_models_through_its_public_modules() -> None:
    taken = [
        f"{path.relative_to(ROOT)}: {module}.{name}"
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        for module, name in list_imports(path)
        if module.split(".")[0] in set(PACKAGES) - {package} and is_model(module, name, owner=module.split(".")[0])
    ]
    assert taken == []


def list_imports(path: Path) -> Iterator[tuple[str, str]]:
    """Every "from module import name", wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)


def is_model(module: str, name: str, *, owner: str) -> bool:
    """A table of that app's; the abstract base that all tenants' tables have is meant for all."""
    found = getattr(importlib.import_module(module), name, None)
    return (
        inspect.isclass(found)
        and issubclass(found, Model)
        and not found._meta.abstract
        and found.__module__.startswith(f"{owner}.")
    )
