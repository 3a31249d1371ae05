"""The security goals S1 to S11, measured: python -m tests.security [GOAL ...]"""
