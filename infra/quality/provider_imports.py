"""Who may import the rules and the client of one kind of database or object store, whatever kinds there are."""

import ast
import re
from collections.abc import Iterator

_PACKAGE = re.compile(r"chalicelib\.(domain\.providers|clients\.databases|clients(?=\.object_store))\.(\w+)")
_BODIES = re.compile(r"chalicelib\.api\.contract\.(\w+)$")
_OF_ALL_KINDS = frozenset({"contract", "registry", "checks", "errors", "reaching"})
"""Modules that stand beside the folders of the kinds."""
_OF_SEVERAL_KINDS = frozenset({"jdbc", "measured_types"})
"""Folders that the rules of several kinds use, and that know none of these."""
_DISPATCH = (
    ("chalicelib.domain.providers.registry", "domain.providers"),
    ("chalicelib.wiring", "clients"),
)
"""Modules that know every kind, each with the packages of which it does."""


def imports_another_kind(node: ast.AST, file: str) -> bool:
    """Whether this node imports from the folder of a kind to which the file does not belong."""
    importer = file.removesuffix(".py").replace("/", ".")
    return any(not _is_allowed(importer, *kind) for name in _imported(node) if (kind := _kind_of(name)))


def _is_allowed(importer: str, package: str, kind: str) -> bool:
    if any(importer.startswith(module) and package.startswith(known) for module, known in _DISPATCH):
        return True
    own_package, own = _kind_of(importer) or ("", "")
    if kind in _OF_SEVERAL_KINDS:
        return own_package == package
    bodies = _BODIES.match(importer)
    return kind in (own, bodies[1] if bodies else None)


def _kind_of(module: str) -> tuple[str, str] | None:
    """The package and the kind in whose folder a module lies."""
    match = _PACKAGE.match(module)
    return (match[1], match[2]) if match and match[2] not in _OF_ALL_KINDS else None


def _imported(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (alias.name for alias in names)
        case ast.ImportFrom(module=str(module), names=names):
            yield from (f"{module}.{alias.name}" for alias in names)
