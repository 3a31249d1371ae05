from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib import api
from chalicelib.api.framework.http import deletion_response, operation_response


@dataclass(frozen=True)
class Resource:
    open_operation: str | None


@pytest.mark.parametrize(
    ("operation", "status", "expected"), [(None, 200, 200), (None, 201, 201), ("o", 200, 202), ("o", 201, 202)]
)
def test_an_open_operation_is_202(operation: str | None, status: int, expected: int) -> None:
    resource = Resource(open_operation=operation)
    response = operation_response(resource, status=status)
    assert (response.status, response.body) == (expected, resource)


def test_a_deletion_is_204_or_202_with_what_remains() -> None:
    assert (deletion_response(None).status, deletion_response(None).body) == (204, None)
    assert (deletion_response("pipeline").status, deletion_response("pipeline").body) == (202, "pipeline")


def test_no_module_of_the_api_reaches_through_a_service_to_a_store() -> None:
    files = [file for folder in api.__path__ for file in Path(folder).rglob("*.py")]
    assert len(files) > 30
    assert [file.name for file in files if ".stores" in file.read_text(encoding="utf-8")] == []
