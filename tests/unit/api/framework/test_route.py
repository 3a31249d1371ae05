from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.framework.http import HttpRequest, JsonResponse, TextResponse, WithList
from chalicelib.api.framework.route import (
    NAME_RULE,
    TASK_RULE,
    UUID_RULE,
    ResponseType,
    TaskPath,
    UuidPath,
    read_signature,
)
from chalicelib.domain.access import RequestContext
from chalicelib.kit.pages import Page


class Model(BaseModel):
    name: str


def test_every_kind_of_parameter_is_read_from_the_signature() -> None:
    def handler(
        context: RequestContext,
        request: HttpRequest,
        uuid: UuidPath,
        task: TaskPath,
        name: str,
        query: ListQuery,
        body: Model,
    ) -> Model:
        raise AssertionError

    facts = read_signature(handler, "/a/{uuid}/{task}/{name}")
    assert facts["variables"] == {"uuid": UUID_RULE, "task": TASK_RULE, "name": NAME_RULE}
    assert (facts["context_parameter"], facts["request_parameter"]) == ("context", "request")
    assert (facts["query"], facts["body"]) == (ListQuery, Model)
    assert facts["body_required"] is True
    assert TASK_RULE.convert("7") == 7


def test_a_body_that_may_be_none_may_be_left_out() -> None:
    def handler(body: Model | None) -> None: ...

    facts = read_signature(handler, "/a")
    assert (facts["body"], facts["body_required"]) == (Model, False)


@pytest.mark.parametrize(
    ("answer", "shape"),
    [
        (Model, ResponseType(kind="model", model=Model)),
        (None, ResponseType(kind="none")),
        (Page[Model], ResponseType(kind="page", model=Model)),
        (list[Model], ResponseType(kind="list", model=Model)),
        (WithList[Model], ResponseType(kind="model with list", model=Model)),
        (TextResponse, ResponseType(kind="text")),
        (JsonResponse[Model], ResponseType(kind="model", model=Model, sets_headers=True)),
        (JsonResponse[None], ResponseType(kind="none", sets_headers=True)),
    ],
)
def test_the_response_type_is_read_from_the_return_annotation(answer: Any, shape: ResponseType) -> None:
    def handler() -> None: ...

    handler.__annotations__["return"] = answer
    assert read_signature(handler, "/a")["response"] == shape


def test_a_handler_parameter_of_unknown_origin_is_refused() -> None:
    def handler(colour: Annotated[str, "?"]) -> None: ...

    with pytest.raises(TypeError, match="colour"):
        read_signature(handler, "/a")


def test_a_variable_that_the_handler_does_not_take_is_refused() -> None:
    def handler(context: RequestContext) -> None: ...

    with pytest.raises(TypeError, match="uuid"):
        read_signature(handler, "/a/{uuid}")


def test_a_response_has_to_be_declared() -> None:
    def handler(context: RequestContext):  # type: ignore[no-untyped-def]
        ...

    with pytest.raises(TypeError, match="response"):
        read_signature(handler, "/a")


@pytest.mark.parametrize("text", ["6c9de1b9-55d2-4d4b-9c1a-0f4b8b1a2c3d"])
def test_only_lower_case_uuids_with_dashes_are_uuids(text: str) -> None:
    assert UUID_RULE.accepts(text)
    assert not any(UUID_RULE.accepts(other) for other in (text.upper(), text.replace("-", ""), text + "\n", "", "x"))


def test_a_task_is_a_number_from_zero() -> None:
    assert all(TASK_RULE.accepts(text) for text in ("0", "7", "999999999"))
    assert not any(TASK_RULE.accepts(text) for text in ("-1", "01", "1.0", "", "٣", "1" * 10, "1\n"))
