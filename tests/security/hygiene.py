"""S10: the code, its dependencies and the table of requirements are in order. Takes about twenty seconds."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping

from infra.local.stack.layout import ROOT
from infra.quality.asvs import shares
from infra.quality.licences import LOCKS, licences, refused
from infra.quality.own_rules import RULES, all_findings
from tests.security.figure import Figure, none_of

LEVEL_2_SHARE = 0.95
_HASHES = re.compile(r"( --hash=sha256:[0-9a-f]{64})+$")


def figures() -> list[Figure]:
    found, broken, bad = _bandit(), all_findings(), refused()
    entries = [entry for lock in LOCKS for entry in requirements((ROOT / lock).read_text()).values()]
    share = sum(map(hashed, entries)) / len(entries)
    first, second = shares(1), shares(2)
    return [
        none_of("findings of bandit, medium and above", found),
        none_of(f"findings of {len(RULES)} rules of our own", broken),
        Figure(f"of {len(entries)} locked requirements those with hashes", f"{share:.0%}", "100%", share == 1),
        none_of(f"of {len(list(licences()))} packages those with a licence not allowed", bad),
        Figure(f"ASVS 5.0 level 1, of {first.applicable} applicable with a test", f"{first.share:.0%}", "100%",
               first.share == 1),
        Figure(f"ASVS 5.0 level 2, of {second.applicable} applicable with a test", f"{second.share:.1%}",
               f">= {LEVEL_2_SHARE:.0%}", second.share >= LEVEL_2_SHARE),
    ]  # fmt: skip


def _bandit() -> list[Mapping[str, str]]:
    command = [
        sys.executable,
        "-m",
        "bandit",
        "--quiet",
        "--recursive",
        "--severity-level",
        "medium",
        "--format",
        "json",
    ]
    done = subprocess.run(
        [*command, "app.py", "chalicelib", "infra"], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    return list(json.loads(done.stdout)["results"])


def requirements(lock: str) -> Mapping[str, str]:
    """The requirements of a lock file, in one line each, by name."""
    lines = lock.replace("\\\n", " ").splitlines()
    entries = [" ".join(line.split()) for line in lines if line.strip() and not line.startswith("#")]
    return {re.split(r"[=<>~! ;\[]", entry, maxsplit=1)[0]: entry for entry in entries}


def hashed(entry: str) -> bool:
    """Whether a requirement is one version, with hashes."""
    one_line = " ".join(entry.replace("\\\n", " ").split())
    return bool(re.match(r"[\w.-]+==[\w.!+]+( |$)", one_line)) and bool(_HASHES.search(one_line))
