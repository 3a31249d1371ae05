"""Errors that end a local run. The message is printed unchanged."""


class SetupMissing(Exception):
    """The run lacks a program or a setting; the message names it, and says how to get it."""


class ServerFailed(Exception):
    """A server of the stack did not start, or ended unexpectedly; the message shows its last log lines."""
