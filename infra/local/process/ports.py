"""The ports of a stack, chosen once, stored, and used again: what a person registered in Headgate refers to them."""

import json
import random
import socket
from collections.abc import Container, Sequence
from pathlib import Path

from infra.local.app.errors import SetupMissing
from infra.local.stack.layout import shown

# Below the range from which Linux takes the ports of outgoing connections (32768 and up, ip_local_port_range):
# a client must not take a stored port between two runs.
FIRST, LAST = 20000, 32000


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
                f"port {existing[name]}, kept for {name} in {shown(file)}, is in use by another program. End it, "
                "or delete the file to have other ports chosen (what was registered still has the old ones)."
            )
    chosen = {name: existing[name] for name in names if name in existing}
    for name in names:
        if name not in chosen:
            chosen[name] = free_port({*existing.values(), *chosen.values()})
    _write(file, existing | chosen)
    return chosen


def free_port(taken: Container[int] = ()) -> int:
    """A port, not in `taken`, on which nothing listens now. Raises SetupMissing when none is found."""
    for port in random.sample(range(FIRST, LAST), 500):
        if port not in taken and is_free(port):
            return port
    raise SetupMissing(f"no free port was found between {FIRST} and {LAST} on 127.0.0.1.")


def _write(file: Path, ports: dict[str, int]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    fresh = file.with_suffix(".new")
    fresh.write_text(json.dumps(ports, indent=2, sort_keys=True) + "\n")
    fresh.replace(file)
