"""Verifiers, a module for each algorithm: its functions raise `WrongResultError` unless a result is right.

Each takes what was solved, the result's arrays by name, and the vertex or vertices that it starts from, or None. It
returns in words how the result was proved.
"""
