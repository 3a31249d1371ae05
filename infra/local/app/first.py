"""What `infra/run` does first: check the command line, take the port, install the packages, and go on with `main`.

It imports the standard library only, since no package is installed yet.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

from infra.local.app import arguments, listening
from infra.local.app.errors import SetupMissing
from infra.local.app.listening import TakenPort
from infra.local.stack.layout import HOME, ROOT

_INSTALL = ("bash", "-c", "set -euo pipefail; source infra/bootstrap.sh; headgate_bootstrap run")
_LIMIT_SECONDS = 3600
NO_SETUP, INTERRUPTED = 2, 130


def main(argv: Sequence[str]) -> int:
    """Ends only when the run cannot go on: otherwise `main` takes the place of this program, in the same process."""
    options = arguments.parse(argv)
    try:
        port = listening.take(options.port)
        status = subprocess.run(_INSTALL, cwd=ROOT, check=False, timeout=_LIMIT_SECONDS).returncode
    except subprocess.TimeoutExpired:
        print("headgate: the Python packages were not there after an hour. Check the network.", file=sys.stderr)
        return NO_SETUP
    except SetupMissing as error:
        print(f"headgate: {error}", file=sys.stderr)
        return NO_SETUP
    except KeyboardInterrupt:
        return INTERRUPTED
    if status == 0:
        _go_on(port, argv)
    return status if status > 0 else INTERRUPTED


def _go_on(port: TakenPort, argv: Sequence[str]) -> NoReturn:
    number = port.hand_over().fileno()
    os.set_inheritable(number, True)  # noqa: FBT003  # it takes no keyword
    os.environ[listening.INHERITED] = str(number)
    python = str(HOME / "venv" / "bin" / "python")
    os.execv(python, [python, "-m", "infra.local.app.main", *argv])  # noqa: S606  # no shell takes part


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
