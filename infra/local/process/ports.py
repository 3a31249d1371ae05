"""The ports of a stack. They are chosen once, stored and used again, because registered resources refer to them."""

import json
import random
import socket
from collections.abc import Container, Sequence
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.stack.layout import display_path

# Below the range from which Linux takes the ports of outgoing connections (32768 and up, ip_local_port_range):
# a client must not take a stored port between two runs.
FIRST, LAST = 20000, 32000

_reserved: list[socket.socket] = []


def is_free(port: int) -> bool:
    """Whether a server could listen on that port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def kept_ports(file: Path, names: Sequence[str]) -> dict[str, int]:
    """One port per name, from `file`; names that it lacks get a free port, and are added to it.

    Raises SetupMissing when a stored port is in use.
    """
    existing: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    for name in names:
        if name in existing and not is_free(existing[name]):
            raise SetupMissing(
                f"port {existing[name]}, kept for {name} in {display_path(file)}, is in use by another program. "
                "End it, or delete the file to have other ports chosen (what was registered still has the old ones)."
            )
    chosen = {name: existing[name] for name in names if name in existing}
    for name in names:
        if name not in chosen:
            chosen[name] = free_port({*existing.values(), *chosen.values()})
    _write(file, existing | chosen)
    return chosen


def free_port(taken: Container[int] = ()) -> int:
    """A port, not in `taken`, on which nothing listens now and which no other process was given by this function.

    Raises SetupMissing when none is found.
    """
    # tests seed the generator that `random` shares: two processes with one seed would try the same ports
    for port in random.SystemRandom().sample(range(FIRST, LAST), 500):
        if port not in taken and _reserve(port):
            return port
    raise SetupMissing(f"no free port was found between {FIRST} and {LAST} on 127.0.0.1.")


def _reserve(port: int) -> bool:
    """Keeps the port for this process until it ends; False when another has it.

    The socket is bound and does not listen. A server with SO_REUSEADDR, which all of ours set, may listen beside it;
    the bind of another `_reserve`, which is made without that option, is refused (socket(7)).
    """
    kept = socket.socket()
    try:
        kept.bind(("127.0.0.1", port))
    except OSError:
        kept.close()
        return False
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    _reserved.append(kept)
    return True


def _write(file: Path, ports: dict[str, int]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(ports, indent=2, sort_keys=True) + "\n")
    fresh.replace(file)
