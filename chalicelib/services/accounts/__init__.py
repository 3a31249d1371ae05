"""Users, their sessions, invites and tokens: what people and programs may do with them."""
