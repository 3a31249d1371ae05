"""How requests ask for deliveries to files, and what such a delivery claims."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from chalicelib.domain.checks.delivery import field_problem
from chalicelib.domain.checks.options import require_known_options
from chalicelib.domain.delivery import ClaimedTarget, MappingInput
from chalicelib.domain.object_store import (
    MAX_TEMPLATE_CHARACTERS,
    FileFormat,
    FileWriting,
    ObjectStoreAddress,
    TopicMapping,
)
from chalicelib.errors import Invalid

_OPTIONS = frozenset(field.name for field in fields(FileWriting)) - {"mappings", "plugin", "has_schemas"}

_VARIABLE = re.compile(r"\{\{([^{}]*)\}\}")
_ALLOWED_VARIABLES = re.compile(
    r"topic|partition(:padding=(true|false))?|start_offset(:padding=(true|false))?|timestamp:unit=(yyyy|MM|dd|HH)"
)
_TEXT = re.compile(r"[A-Za-z0-9!_.*'()/=-]*")
"""What Amazon S3 calls safe in keys (its user guide, "Naming objects"), and `=`, which partitions of tables use."""
_NEEDED = ("topic", "partition", "start_offset")


def file_writing(mappings: Sequence[MappingInput], options: Mapping[str, Any]) -> FileWriting:
    """With defaults for what was left out. Raises Invalid."""
    require_known_options(options, _OPTIONS)
    writing = FileWriting(mappings=topic_mappings(mappings), **{"format": FileFormat.JSONL, **options})
    _check_template(writing.file_name_template)
    return writing


def topic_mappings(mappings: Sequence[MappingInput]) -> tuple[TopicMapping, ...]:
    """Raises Invalid for a mapping that names a table, as for an unknown field of a body."""
    for field in ("schema_name", "table_name"):
        named = [at for at, mapping in enumerate(mappings) if getattr(mapping, field) is not None]
        for problem in field_problem(named, field, "extra_forbidden", "Object storage has no tables: leave it out."):
            raise problem
    return tuple(TopicMapping(topic=mapping.topic) for mapping in mappings)


def uses_time(template: str) -> bool:
    """Whether names of files depend on when a record is written."""
    return any(variable.startswith("timestamp") for variable in _VARIABLE.findall(template))


def claimed_files(
    writing: FileWriting, address: ObjectStoreAddress, _server_identity: str | None
) -> Iterator[ClaimedTarget]:
    """Each topic below the prefix of the bucket."""
    for topic in writing.targets:
        yield ClaimedTarget(address.identity, topic)


def _check_template(template: str) -> None:
    variables = _VARIABLE.findall(template)
    text = _VARIABLE.sub("", template)
    names = {variable.partition(":")[0] for variable in variables}
    if not all(map(_ALLOWED_VARIABLES.fullmatch, variables)):
        raise _template_error(
            "variable",
            "A file name takes {{topic}}, {{partition}} and {{start_offset}}, both also with :padding=true, and "
            "{{timestamp:unit=yyyy}} with yyyy, MM, dd or HH.",
        )
    if not names.issuperset(_NEEDED):
        raise _template_error(
            "missing_variable",
            "A file name needs {{topic}}, {{partition}} and {{start_offset}}: else files would replace each other.",
        )
    bad_path = template.startswith("/") or "//" in template or ".." in template
    if len(template) > MAX_TEMPLATE_CHARACTERS or bad_path or not _TEXT.fullmatch(text):
        raise _template_error(
            "characters",
            f"A file name has at most {MAX_TEMPLATE_CHARACTERS} of A-Z a-z 0-9 ! _ . * ' ( ) / = - beside its "
            "variables. It neither begins with a slash nor holds two beside each other, nor two dots.",
        )


def _template_error(type_: str, message: str) -> Invalid:
    return Invalid.at("body", "file_name_template", type_=type_, message=message)
