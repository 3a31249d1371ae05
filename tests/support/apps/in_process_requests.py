"""Generated requests to the function itself, in a process of its own: python -m tests.support.apps.in_process_requests.

Its arguments are `examples`, phases with commas between, and optionally a tag. Prints the outcome as JSON. A process
has one environment and one store, so this Headgate has its own.
"""

import logging
import os
import shutil
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import httpx

from infra.local.app.gateway import Gateway
from infra.local.app.runner import Runner, load_app
from tests.support.apps.sandbox_stack import ADMIN, running_stack
from tests.support.dynamodb.double import DynamoDBDouble
from tests.support.dynamodb.in_process import answered_by
from tests.support.hostile.generated_requests import in_process, run
from tests.support.hostile.sealed_network import seal


def main(examples: str, phases: str, tag: str | None = None) -> str:
    state = Path(tempfile.mkdtemp(prefix="headgate-requests-"))
    with ExitStack() as ends:
        ends.callback(shutil.rmtree, state, ignore_errors=True)
        stack = ends.enter_context(running_stack(state))
        seal()
        ends.enter_context(answered_by(DynamoDBDouble()))
        runner = Runner(environment=stack.variables, port=stack.port, sandbox=True)
        runner.start()
        ends.callback(runner.stop)
        logging.disable(logging.CRITICAL)
        document = httpx.get(f"{runner.url}/openapi.json", trust_env=False, timeout=60).json()

        def sign_in() -> str:
            credentials = {"email": ADMIN.email, "password": ADMIN.password}
            answer = httpx.post(f"{runner.url}/api/v1/auth/login", json=credentials, trust_env=False, timeout=60)
            return answer.cookies["headgate_session"]

        ends.enter_context(in_process(Gateway(load_app())))
        outcome = run(
            document,
            base_url="http://127.0.0.1",
            sign_in=sign_in,
            examples=int(examples),
            phases=phases.split(","),
            only=tag,
        )
        return outcome.as_json()


if __name__ == "__main__":
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(main(*sys.argv[1:]), file=results, flush=True)
