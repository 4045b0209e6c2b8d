"""The version of mgraph, which a client and its workers must share."""

__version__ = "0.1.0"
