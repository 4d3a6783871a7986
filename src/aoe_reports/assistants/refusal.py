"""What an assistant is told where it gets no answer: one sentence, and what to do instead."""

from __future__ import annotations


class RefusedError(Exception):
    """A call that is not answered; its text is for the assistant, in English as all of its answers."""
