"""What can go wrong before anything is served. The message is the sentence a person reads."""


class SetupMissing(Exception):
    """Something the run needs is not here; the message says what, and how to get it."""


class ServerFailed(Exception):
    """A server of the stack did not come up, or ended by itself; the message shows its last log lines."""
