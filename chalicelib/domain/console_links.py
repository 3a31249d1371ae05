"""Addresses of the pages of the console, which lie behind a `#`: no server and no log sees the token of an invite.

`base` is what people's addresses of this installation begin with: its public URL, a path, or nothing.
"""

CONSOLE = "/console"


def console_link(base: str) -> str:
    """The console as it opens."""
    return f"{base.rstrip('/')}{CONSOLE}"


def alert_link(base: str, alert_id: str) -> str:
    """The page of an alert."""
    return f"{console_link(base)}#/alerts/{alert_id}"


def invite_link(base: str, token: str) -> str:
    """Where somebody who was invited joins."""
    return f"{console_link(base)}#/invite/{token}"
