"""Words of one kind of database or object store: they are used in its own folder, and where EXCEPTIONS allows it."""

import ast
import re
from collections.abc import Iterator, Mapping

WORDS = frozenset({"slot", "publication", "wal", "binlog", "bucket"})

OWN_FILES = re.compile(
    r"chalicelib/((domain/providers|clients/databases)/(postgresql|mysql)/|(domain/providers|clients)/object_store/"
    r"|domain/object_store\.py|api/contract/(postgresql|mysql|object_store)\.py)"
)

EXCEPTIONS: Mapping[str, frozenset[str]] = {
    # The wire contract: drop_slot, kinds of logs, and sentences of the OpenAPI document.
    "chalicelib/api/contract/runtime.py": frozenset({"slot", "binlog"}),
    "chalicelib/api/routes/pipelines.py": frozenset({"slot", "publication"}),
    # Examples of bodies for each kind.
    "chalicelib/api/documentation/bodies.py": frozenset({"bucket"}),
    # The names of fields of the wire contract.
    "chalicelib/api/framework/text_forms.py": frozenset({"slot", "publication", "bucket"}),
    # Event kinds of the specification, section 6.
    "chalicelib/domain/event_kind.py": frozenset({"slot", "wal", "binlog"}),
    "chalicelib/domain/monitoring/condition.py": frozenset({"slot", "wal", "binlog"}),
    "chalicelib/domain/alerts/backlog.py": frozenset({"slot", "wal", "binlog"}),
    # Texts that other programs write about databases of every kind.
    "chalicelib/clients/connect/phrases.py": frozenset({"slot"}),
    "chalicelib/domain/diagnosis/": WORDS,
    # A place for a copy of the audit trail's last anchor, which is no destination.
    "chalicelib/clients/anchor_copies.py": frozenset({"bucket"}),
    "chalicelib/settings.py": frozenset({"bucket"}),
    # The usual word for a part of a histogram, and of a hash table.
    "chalicelib/services/alerts/metrics.py": frozenset({"bucket"}),
    "chalicelib/stores/alerts/counters.py": frozenset({"bucket"}),
    "chalicelib/stores/claims.py": frozenset({"bucket"}),
}
"""Words by the beginning of the path."""

_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z]+")


def misplaced_words(node: ast.AST, file: str) -> frozenset[str]:
    """The words in a name or text of this node that this file may not use."""
    if not file.startswith("chalicelib/") or OWN_FILES.match(file):
        return frozenset()
    words = {word for text in _texts(node) for word in _words(text)}
    allowed = (exceptions for path, exceptions in EXCEPTIONS.items() if file.startswith(path))
    return frozenset(words & WORDS).difference(*allowed)


def _texts(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.keyword(arg="slots") | ast.Name(id="__slots__"):
            return  # the option of a dataclass, and the attribute that it sets
        case ast.Name(id=text) | ast.Attribute(attr=text) | ast.arg(arg=text) | ast.Constant(value=str(text)):
            yield text
        case ast.FunctionDef(name=text) | ast.ClassDef(name=text) | ast.alias(name=text):
            yield text
        case ast.keyword(arg=str(text)) | ast.ImportFrom(module=str(text)):
            yield text


def _words(text: str) -> Iterator[str]:
    """The words of a name or a sentence, in lower case and in the singular."""
    return (word.lower().removesuffix("s") for word in _BORDER.split(text))
