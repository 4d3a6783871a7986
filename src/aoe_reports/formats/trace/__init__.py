"""Timelines (Chrome trace JSON): `events` as one frame of any size, `rows` as the tables of the same name."""
