"""List ranking."""
