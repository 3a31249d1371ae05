"""The console in Chromium, on the sandbox. `python -m tests.console` prints the figures of its acceptance checks."""
