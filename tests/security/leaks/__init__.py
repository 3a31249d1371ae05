"""The search for secrets in everything that a Headgate returns, logs, sends and stores (goal S1)."""
