"""Errors that end a local run. The message is printed as it is."""


class SetupMissing(Exception):
    """Something that the run needs is missing; the message says what, and how to get it."""


class ServerFailed(Exception):
    """A server of the stack did not start, or ended unexpectedly; the message shows its last log lines."""
