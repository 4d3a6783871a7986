"""Driving a tuner: what is to be tuned, with which command, on which bank, and what came of it. Only `runner` starts processes."""
