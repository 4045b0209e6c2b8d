"""The commands ``mgraph roads``."""

import click

from .commands import main


@main.group(cls=click.Group, epilog="Example: mgraph roads table city.osm --origins a.csv --out t.parquet")
def roads() -> None:
    """Road networks: tables of times and areas that are reached."""
