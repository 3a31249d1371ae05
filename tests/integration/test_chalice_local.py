"""`chalice local` serves the API, with moto for what AWS would be."""

import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from infra.local.process.ports import free_port
from infra.local.stack.layout import ROOT
from tests.integration.lambda_process import ADMIN_PASSWORD, PARAMETERS
from tests.support.waiting import until_listening

ADMIN = {"email": PARAMETERS["AdminEmail"], "password": ADMIN_PASSWORD}

CHALICE_LOCAL = """
import os, sys
from moto import mock_aws
from tests.integration.lambda_process import create_data_stack, environment_of
from chalice.cli import main
with mock_aws():
    os.environ["AWS_DEFAULT_REGION"] = "eu-central-1"
    os.environ.update(environment_of("APIHandler", create_data_stack()))
    sys.argv = ["chalice", "local", "--no-autoreload", "--port", sys.argv[1]]
    main()
"""


@pytest.fixture
def chalice_local() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-c", CHALICE_LOCAL, str(port)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until_listening(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def test_chalice_local_serves_the_api(chalice_local: str) -> None:
    with httpx.Client(base_url=chalice_local, trust_env=False, timeout=60) as browser:
        assert browser.get("/ready").json()["status"] == "ready"
        assert browser.post("/api/v1/auth/login", json=ADMIN).status_code == 200
        assert browser.get("/api/v1/session").json()["user"]["role"] == "Admin"
        assert browser.get("/api/v1/nope").json()["error"]["code"] == "NOT_FOUND"
