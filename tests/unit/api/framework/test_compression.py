import gzip

import pytest

from chalicelib.api.framework.compression import MIN_BYTES, compressed
from chalicelib.api.framework.http import HttpRequest, HttpResponse
from chalicelib.api.framework.router import Router
from chalicelib.domain.access import Permission
from tests.support.apps.edge import ADMIN, ThingOutput, make_edge, through_lambda_event

LONG = "a body that is long enough, " * 100


def sent(accepts: str, body: str = LONG, *, has_secret: bool = False) -> HttpResponse:
    request = HttpRequest(method="GET", route="/x", path="/x", headers={"accept-encoding": accepts})
    return compressed(request, HttpResponse(status=200, body=body, has_secret=has_secret))


@pytest.mark.parametrize("accepts", ["gzip", "GZIP", "br, gzip", "gzip;q=0.1, br", "*", "deflate, gzip;q=1.0"])
def test_who_accepts_gzip_gets_it(accepts: str) -> None:
    response = sent(accepts)
    assert response.headers == {"Vary": "Accept-Encoding", "Content-Encoding": "gzip"}
    assert gzip.decompress(response.compressed or b"").decode() == LONG


@pytest.mark.parametrize("accepts", ["", "identity", "br", "gzip;q=0", "gzip; q=0.000, br", "xgzip", "gzipx"])
def test_who_does_not_accept_gzip_gets_the_text(accepts: str) -> None:
    response = sent(accepts)
    assert (response.compressed, response.body, response.headers) == (None, LONG, {"Vary": "Accept-Encoding"})


def test_a_small_body_stays_as_it_is() -> None:
    assert sent("gzip", "a" * (MIN_BYTES - 1)).compressed is None
    assert sent("gzip", "a" * MIN_BYTES).compressed is not None


def test_an_answer_that_shows_a_secret_is_never_compressed() -> None:
    routes = Router(tag="T")

    @routes.post("/secret", needs=Permission.READ, shows_secret=True)
    def make_secret() -> ThingOutput:
        """Make it."""
        return ThingOutput(id="1", name=LONG)

    @routes.get("/machines", needs=Permission.SERVICE)
    def read_secret() -> ThingOutput:
        """Read it."""
        return ThingOutput(id="1", name=LONG)

    @routes.get("/plain", needs=Permission.READ)
    def read_plain() -> ThingOutput:
        """Read something else."""
        return ThingOutput(id="1", name=LONG)

    send = through_lambda_event(make_edge(routes).app)
    headers = {**ADMIN, "accept-encoding": "gzip"}
    answers = [
        send("POST", "/api/v1/secret", {**headers, "content-type": "application/json"}, b""),
        send("GET", "/api/v1/machines", {**headers, "authorization": "Bearer service"}, b""),
        send("GET", "/api/v1/plain", headers, b""),
    ]
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert [answer.headers.get("content-encoding") for answer in answers] == [None, None, "gzip"]
