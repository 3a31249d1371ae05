"""What a browser loads: the whole app's page, over the events of API Gateway."""

import re

import app
from tests.support.apps.edge import ClientResponse, through_lambda_event

MAX_FIRST_VISIT_BYTES = 400_000
GZIP = {"accept-encoding": "gzip, deflate, br"}


def get(path: str, etag: str = "") -> ClientResponse:
    return through_lambda_event(app.app)("GET", path, {**GZIP, "if-none-match": etag}, b"")


def files(page: ClientResponse) -> list[str]:
    return [f"/{name}" for name in re.findall(r'(?:src="|rel="stylesheet" href=")([^"]+)"', page.body)]


def test_the_first_visit_of_the_page_is_light_and_the_second_loads_nothing() -> None:
    page = get("/docs")
    loaded = [page, *map(get, files(page))]
    assert len(loaded) == 3
    first = sum(answer.size for answer in loaded)
    print(f"first visit: {first:,} bytes")
    assert 20_000 < first < MAX_FIRST_VISIT_BYTES
    again = get("/docs", str(page.headers["etag"]))
    assert (again.status, again.size) == (304, 0)
    assert all("immutable" in str(answer.headers["cache-control"]) for answer in loaded[1:])


def test_the_document_is_compressed_and_not_sent_again() -> None:
    document = get("/openapi.json")
    assert 20_000 < document.size < len(document.body) / 5
    assert get("/openapi.json", str(document.headers["etag"])).size == 0
