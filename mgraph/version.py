"""The version of mgraph and of its distribution, which a client and its workers must share."""

__version__ = "0.1.0"
