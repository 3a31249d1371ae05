"""Headgate in its own process, so that a test can end it and start it again.

    python -m tests.support.apps.headgate_process PORT

Everything else comes from the environment (see `infra/local/app/environment.py`). Ends on SIGTERM.
"""

import os
import signal
import sys
import threading

from infra.local.app.runner import Runner


def main(port: int) -> None:
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    runner = Runner(environment=dict(os.environ), port=port, sandbox=False)
    runner.start()
    ended.wait()
    runner.stop()


if __name__ == "__main__":
    main(int(sys.argv[1]))
