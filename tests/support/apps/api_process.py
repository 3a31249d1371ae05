"""Only the API of a Headgate, in its own process: python -m tests.support.apps.api_process

Its settings are those of the environment. Prints its address as JSON when it serves, and ends with its input.
"""

import json
import sys

from infra.local.app.runner import load_app
from infra.local.app.server import ApiServer


def main() -> None:
    server = ApiServer(load_app(), 0)
    server.start()
    print(json.dumps(server.url), flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    main()
