"""Weak ETags: the same while only times of observation move. Over all entry points: tests/integration."""

from datetime import UTC, datetime

import pytest
from pydantic import BaseModel

from chalicelib.api.framework.http import HttpRequest, HttpResponse, JsonResponse
from chalicelib.api.framework.rendering import render
from chalicelib.api.framework.route import Route, read_signature
from chalicelib.domain.access import Permission
from chalicelib.kit.clock import utc_now
from chalicelib.kit.pages import Page

EARLY, LATE = "2026-01-31T12:00:00.000Z", "2026-01-31T12:00:10.000Z"


class Status(BaseModel):
    id: str = "7"
    state: str = "RUNNING"
    observed_at: str | None = EARLY
    checked_at: str = EARLY
    oldest_waiting_seconds: float = 1.5
    created_at: str = EARLY


class Versioned(Status):
    version: int = 4


def respond(returns: object, result: object, known: str = "", **options: object) -> HttpResponse:
    def handler() -> None: ...

    handler.__annotations__["return"] = returns
    facts = {"status": 200, "needs": Permission.READ, **options, **read_signature(handler, "/things")}
    route = Route(method="GET", path="/things", tag="T", handler=handler, **facts)  # type: ignore[arg-type]  # of many types
    request = HttpRequest(method="GET", route="/things", path="/things", headers={"if-none-match": known})
    return render(route, request, result, lambda key, list_path: f"signed {list_path}{key}")


def tag(**fields: object) -> str:
    return str(respond(Status, Status.model_validate(fields)).headers["ETag"])


def page(*statuses: Status, more: bool = False) -> Page[Status]:
    return Page(statuses, tuple(status.id for status in statuses), more=more)


def page_tag(shown: Page[Status]) -> str:
    return str(respond(Page[Status], shown).headers["ETag"])


def test_the_tag_is_the_same_while_only_times_of_observation_move() -> None:
    assert tag().startswith('W/"')
    assert tag(observed_at=LATE, checked_at=LATE, oldest_waiting_seconds=11.25) == tag()


@pytest.mark.parametrize(
    "fields",
    [
        {"state": "FAILED"},
        {"id": "8"},
        {"created_at": LATE},
        {"observed_at": None},
        {"state": f'"observed_at":"{LATE}"'},
    ],
    ids=repr,
)
def test_the_tag_changes_with_everything_else(fields: dict[str, object]) -> None:
    assert tag(**fields) != tag()


def test_text_that_looks_like_a_time_of_observation_counts() -> None:
    assert tag(state=f'"observed_at":"{LATE}"') != tag(state=f'"observed_at":"{EARLY}"')


def test_the_tag_of_a_list_changes_when_the_list_goes_on() -> None:
    assert page_tag(page(Status(), more=True)) != page_tag(page(Status()))
    assert page_tag(page(Status(), Status(id="8"))) != page_tag(page(Status()))


def test_who_has_the_body_gets_304_with_the_newest_time_in_it() -> None:
    shown = page(Status(observed_at=LATE), Status(id="8"), more=True)
    whole = respond(Page[Status], page(Status(), Status(id="8"), more=True))
    response = respond(Page[Status], shown, known=f'"another", {whole.headers["ETag"]}')
    assert (response.status, response.body) == (304, "")
    assert response.headers == {
        "ETag": whole.headers["ETag"], "X-Next-Cursor": "signed 8", "X-Observed-At": LATE
    }  # fmt: skip


def test_without_a_time_in_the_body_304_has_that_of_the_answer() -> None:
    response = respond(Page[Status], page(), known=page_tag(page()))
    before, shown_at = utc_now(), str(response.headers["X-Observed-At"])
    assert abs((datetime.fromisoformat(shown_at) - before).total_seconds()) < 60
    assert datetime.fromisoformat(shown_at).tzinfo == UTC


def test_the_time_that_the_handler_tells_counts() -> None:
    told = JsonResponse(body=page(Status()), status=200, headers={"X-Observed-At": LATE})
    assert respond(JsonResponse[Page[Status]], told, known=page_tag(page(Status()))).headers["X-Observed-At"] == LATE


def test_a_body_with_a_version_keeps_its_strong_tag() -> None:
    response = respond(Versioned, Versioned(), known='"4"')
    assert (response.status, response.headers["ETag"]) == (200, '"4"')


@pytest.mark.parametrize("options", [{"shows_secret": True}, {"needs": Permission.SERVICE}, {"status": 202}], ids=repr)
def test_what_shows_a_secret_and_what_is_no_plain_answer_has_no_tag(options: dict[str, object]) -> None:
    assert "ETag" not in respond(Status, Status(), **options).headers
