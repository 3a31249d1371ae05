import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from threading import Barrier

import pytest
from pydantic import BaseModel, ValidationError

from chalicelib.kit.log import add_to_log, current_correlation_id, failure, get_logger, log_context, masked
from chalicelib.kit.masking import MASK, Secret
from tests.support.log_lines import logged

SECRET = "hunter2-very-secret"


class _Login(BaseModel):
    pin: int


@pytest.fixture
def lines() -> Iterator[StringIO]:
    with logged() as stream:
        yield stream


@pytest.mark.parametrize(
    "name",
    [
        "password", "new_password", "Authorization", "cookie", "Set-Cookie", "client_secret", "token", "api_token",
        "credentials", "secret_access_key", "access_key_id", "apiKey", "signing_secret", "webhook_url",
        "webhook-signature", "ca_certificate", "headers", "body",
    ],
)  # fmt: skip
def test_a_name_of_secrets_hides_its_value_at_any_depth(name: str, lines: StringIO) -> None:
    get_logger().info("something", extra={"facts": [{"inner": {name: SECRET}}], name: {"deep": SECRET}})
    line = lines.getvalue()
    assert SECRET not in line
    assert json.loads(line)["facts"][0]["inner"][name] == MASK


def test_a_message_that_is_a_dict_or_json_is_masked_too(lines: StringIO) -> None:
    get_logger().info({"password": SECRET, "kept": 1})
    get_logger().info(json.dumps({"password": SECRET}))
    assert SECRET not in lines.getvalue()
    assert json.loads(lines.getvalue().splitlines()[0])["message"]["kept"] == 1


def test_facts_without_secrets_are_shown(lines: StringIO) -> None:
    get_logger().info("request", extra={"status": 200, "path": "/api/v1/sources/{uuid}", "duration_ms": 1.5})
    line = json.loads(lines.getvalue())
    assert (line["status"], line["path"], line["duration_ms"]) == (200, "/api/v1/sources/{uuid}", 1.5)


def test_an_exception_is_logged_by_type_and_stack_only(lines: StringIO) -> None:
    try:
        {}[SECRET]
    except KeyError:
        get_logger().exception("failed")
    line = lines.getvalue()
    assert SECRET not in line
    assert "builtins.KeyError" in line
    assert "test_an_exception_is_logged_by_type_and_stack_only" in line


def test_a_chain_of_exceptions_is_logged_by_its_types() -> None:
    try:
        try:
            _Login.model_validate({"pin": SECRET})
        except ValidationError as error:
            raise RuntimeError(SECRET) from error
    except RuntimeError as error:
        shown = failure(error)
    assert (shown["type"], shown["cause"]["type"].rsplit(".", 1)[1]) == ("builtins.RuntimeError", "ValidationError")
    assert SECRET not in json.dumps(shown)


def test_an_exception_as_a_value_is_its_type(lines: StringIO) -> None:
    get_logger().info("failed", extra={"error": ValueError(SECRET)})
    assert SECRET not in lines.getvalue()
    assert json.loads(lines.getvalue())["error"] == "ValueError"


def test_secrets_bytes_and_what_lies_too_deep_are_masked() -> None:
    nested: object = SECRET
    for _ in range(20):
        nested = [nested]
    assert SECRET not in json.dumps(masked({"a": Secret(SECRET), "b": SECRET.encode(), "c": nested}))


def test_long_text_is_cut() -> None:
    assert len(masked("x" * 100_000)) <= 2_000


@pytest.mark.parametrize("sign", ["\r\n", "\x1b[31m", "\x9b31m", "\x85", "\u2028", "\u2029", "\x7f", "\x07"])
def test_foreign_text_contains_no_line_breaks_and_no_control_characters(sign: str, lines: StringIO) -> None:
    get_logger().info(f"before{sign}after", extra={"said": f"before{sign}after"})
    line = lines.getvalue().removesuffix("\n")
    assert sign not in line
    assert json.loads(line)["said"] == f"before{sign}after"


def test_lines_of_a_block_have_its_fields_and_those_behind_it_have_none(lines: StringIO) -> None:
    with log_context(function="run-tick", request_id="r", queue=None):
        with log_context(message_id="m"):
            add_to_log(correlation_id="c")
            get_logger().info("inside")
            assert current_correlation_id() == "c"
        get_logger().info("beside")
    get_logger().info("behind")
    inside, beside, behind = (json.loads(line) for line in lines.getvalue().splitlines())
    assert (inside["function"], inside["request_id"], inside["message_id"], inside["correlation_id"]) == (
        "run-tick", "r", "m", "c",
    )  # fmt: skip
    assert "queue" not in inside
    assert "message_id" not in beside
    assert beside["function"] == "run-tick"
    assert "function" not in behind
    assert current_correlation_id() is None


def test_a_line_about_another_resource_has_no_name_of_the_common_one(lines: StringIO) -> None:
    with log_context(resource_type="connect_cluster", resource_id="k", resource_name="connect", user_id="u"):
        get_logger().info("one", extra={"resource_type": "pipeline", "resource_id": "p"})
        with log_context(resource_type="delivery", resource_id="d"):
            get_logger().info("two")
    named = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [(line["resource_type"], line["resource_id"], line["user_id"]) for line in named] == [
        ("pipeline", "p", "u"), ("delivery", "d", "u"),
    ]  # fmt: skip
    assert all("resource_name" not in line for line in named)


def test_the_fields_of_a_block_are_masked_too(lines: StringIO) -> None:
    with log_context(session_id=SECRET, resource_name={"password": SECRET}):
        get_logger().info("something")
    assert SECRET not in lines.getvalue()


def test_threads_do_not_see_the_fields_of_each_other(lines: StringIO) -> None:
    def work(number: int) -> None:
        with log_context(message_id=str(number)):
            barrier.wait(5)
            get_logger().info("work", extra={"number": number})

    barrier = Barrier(4)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    found = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert sorted(line["number"] for line in found) == [0, 1, 2, 3]
    assert all(line["message_id"] == str(line["number"]) for line in found)
