"""What shells take for a word, held against what was typed: bash ends one at `=`, `:` and `@`, zsh and fish hold a value against its option.

The classes of typer that are made better here are private to it: where they are not what they were, its own are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer._click.shell_completion import CompletionItem, add_completion_class
from typer._completion_classes import BashComplete, FishComplete, ZshComplete

_FILES = "_files"
"""How zsh is told to offer files."""
_ENDS_WORDS = frozenset("=:@")
"""What of bash's COMP_WORDBREAKS may stand in a value; a run of these is a word of its own."""


def complete_whole_words() -> None:
    """Let bash, zsh and fish offer what continues the word that was typed."""
    for shell in (_Bash, _Zsh, _Fish):
        add_completion_class(shell, shell.name)


class _Bash(BashComplete):
    kept = ""
    """What bash leaves of the word as it stands."""

    def get_completion_args(self) -> tuple[list[str], str]:
        words, last = super().get_completion_args()
        *args, word = _whole([*words, last])
        self.kept = word.removesuffix("" if _is_end(last) else last).removesuffix(
            "@"
        )  # behind which bash looks for hosts
        return args, word

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        items = _continuing(super().get_completions(args, incomplete), incomplete)
        for item in items:
            item.value = item.value.removeprefix(self.kept)
        return items


class _Zsh(ZshComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        return _continuing(super().get_completions(args, incomplete), incomplete)

    def format_completion(self, item: CompletionItem) -> str:
        told = (super(_Zsh, self).format_completion(CompletionItem(text)) for text in (item.value, item.help) if text)
        return ":".join(told)  # typer lets rich take brackets out of the help, and break its lines

    def complete(self) -> str:
        found = super().complete()
        _, word = self.get_completion_args()
        if found == _FILES and word.startswith("-") and "=" in word:
            return f"compset -P '*='; {_FILES}"  # of what stands behind the sign
        return found


class _Fish(FishComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        return _continuing(super().get_completions(args, incomplete), incomplete)

    def format_completion(self, item: CompletionItem) -> str:
        return "\t".join(text for text in (item.value, item.help) if text)


def _whole(words: Iterable[str]) -> list[str]:
    """Words of bash as they were typed; the last one is empty where a new one begins."""
    whole: list[str] = []
    ended = False
    for word in words:
        if whole and word and (ended or _is_end(word)):
            whole[-1] += word
        else:
            whole.append(word)
        ended = _is_end(word)
    return whole


def _is_end(word: str) -> bool:
    return bool(word) and _ENDS_WORDS.issuperset(word)


def _continuing(found: Iterable[Any], incomplete: str) -> list[CompletionItem]:
    """Values of `--option=` as they continue the whole word; what is said of each on one line."""
    option, sign, _ = incomplete.partition("=")
    before = option + sign if sign and option.startswith("-") else ""
    return [CompletionItem(f"{before}{item.value}", help=" ".join((item.help or "").split())) for item in found]
