"""Users, their sessions, invites and tokens, as they are stored."""
