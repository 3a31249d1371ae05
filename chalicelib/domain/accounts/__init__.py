"""Users, their sessions, invites and tokens: what is true of them."""
