"""Measures the security goals and prints each figure beside its target: python -m tests.security [GOAL ...]

A goal is a name of `GOALS` (S1). Exits with 1 when a target is not reached. What Headgate logs meanwhile goes to the
standard error.
"""

import sys
import time
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib import import_module

from tests.security.figure import Figure

GOALS: Mapping[str, str] = {
    "S1": "secret_leaks",
    "S2": "authorization",
    "S3": "ssrf",
    "S4": "config_injection",
    "S5": "key_rotation",
    "S6": "login",
    "S7": "sessions",
    "S8": "audit_integrity",
    "S9": "hostile_input",
    "S10": "hygiene",
    "S11": "takeover",
    "S12": "server_load",
}
"""The module of this package that measures each goal: its function `figures()` returns a list of `Figure`."""


def main(asked: list[str]) -> int:
    missed = 0
    for goal in asked or GOALS:
        began = time.monotonic()
        with redirect_stdout(sys.stderr):
            figures: list[Figure] = import_module(f"tests.security.{GOALS[goal]}").figures()
        print(f"\n{goal} {GOALS[goal].replace('_', ' ')} ({time.monotonic() - began:.0f} s)")
        for figure in figures:
            verdict = "ok    " if figure.reached else "MISSED"
            print(f"  {verdict} {figure.name}: {figure.measured} (target: {figure.target})")
            missed += not figure.reached
    print(f"\n{missed} targets missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
