"""Section 1 of the wire contract: unknown paths and ids, public paths."""

import pytest

from chalicelib import __version__
from tests.support.api_assertions import UNKNOWN_ID, assert_error
from tests.support.apps.sandbox import Sandbox


@pytest.mark.parametrize(
    "path", ["//nothing", "/nothing", "/sources/x/y/z", "/internal/secrets/" + UNKNOWN_ID, "//api/v2/sources"]
)
def test_an_unknown_path_is_404(sandbox: Sandbox, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert_error(sandbox.admin.call(method, path), 404, "NOT_FOUND")
    assert_error(sandbox.unauthenticated().get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize("name", ["x", "1", UNKNOWN_ID.upper().replace("0", "A"), UNKNOWN_ID + "0", "%20", "..%2f"])
def test_an_id_that_is_no_uuid_is_404(sandbox: Sandbox, name: str) -> None:
    for path in ("/sources/{}", "/jobs/{}", "/pipelines/{}/status", "/destinations/{}/mappings", "/deliveries/{}"):
        assert_error(sandbox.admin.get(path.format(name)), 404, "NOT_FOUND")


def test_an_unknown_id_is_404_everywhere(sandbox: Sandbox) -> None:
    for path in (
        "/sources/{}", "/sources/{}/tables", "/sources/{}/cdc-readiness", "/jobs/{}", "/stream/clusters/{}",
        "/connect/clusters/{}", "/connect/clusters/{}/plugins", "/destinations/{}", "/destinations/{}/mappings",
        "/destinations/{}/status", "/deliveries/{}", "/deliveries/{}/status", "/pipelines/{}", "/pipelines/{}/status",
        "/pipelines/{}/destinations", "/connect/connectors?cluster_id={}", "/stream/consumer-groups?cluster_id={}",
        "/connect/connectors/any/status?cluster_id={}",
    ):  # fmt: skip
        assert_error(sandbox.admin.get(path.format(UNKNOWN_ID)), 404, "NOT_FOUND")
    for path in (
        "/sources/{}/test", "/sources/{}/discover", "/sources/{}/health", "/destinations/{}/test",
        "/destinations/{}/pause", "/destinations/{}/resume", "/destinations/{}/restart", "/deliveries/{}/pause",
        "/deliveries/{}/resume", "/deliveries/{}/restart", "/deliveries/{}/restart-task?task=0", "/pipelines/{}/deploy",
        "/pipelines/{}/pause", "/pipelines/{}/resume", "/pipelines/{}/restart", "/pipelines/{}/restart-task?task=0",
    ):  # fmt: skip
        assert_error(sandbox.admin.post(path.format(UNKNOWN_ID)), 404, "NOT_FOUND")
    for path in ("/destinations/{}/preview", "/destinations/{}/deploy"):
        response = sandbox.admin.post(path.format(UNKNOWN_ID), sandbox.delivery_body(sandbox.pipeline))
        assert_error(response, 404, "NOT_FOUND")


def test_health_and_readiness_are_open(sandbox: Sandbox) -> None:
    assert sandbox.unauthenticated().get_ok("//health") == {"status": "ok", "version": __version__}
    ready = sandbox.unauthenticated().get_ok("//ready")
    assert set(ready) == {"status", "checks"}
    assert set(ready["checks"].values()) == {"ok"}
