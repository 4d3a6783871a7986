"""How to take a profile, as text and as Markdown: code stays code, to be copied."""

from __future__ import annotations

from aoe_reports.formats.ascend.profiling import Recipe
from aoe_reports.model.texts import Language, in_language, join, say
from aoe_reports.present.markdown import escape


def render_text(recipe: Recipe, language: Language = "en") -> str:
    """The recipe for a terminal."""
    parts = [
        _title(recipe),
        _indented(recipe.snippet),
        *([say("Then:"), _indented("\n".join(recipe.after))] if recipe.after else []),
        "\n  ".join(in_language(line, language) for line in (say("Generated output:"), *_yields(recipe))),
        say("To switch profiling off again:"),
        _indented(recipe.switch_off),
        *recipe.notes,
        _sources(recipe),
    ]
    return "\n\n".join(in_language(part, language) for part in parts) + "\n"


def render_markdown(recipe: Recipe, language: Language = "en") -> str:
    """The recipe as Markdown."""

    def shown(lead: str, *texts: str) -> str:
        return "\n".join(f"{lead}{escape(in_language(text, language))}" for text in texts)

    parts = [
        shown("# ", _title(recipe)),
        f"```{recipe.language}\n{recipe.snippet}\n```",
        *([shown("## ", say("Then")), "```shell\n" + "\n".join(recipe.after) + "\n```"] if recipe.after else []),
        shown("## ", say("Generated output")),
        shown("- ", *_yields(recipe)),
        shown("## ", say("To switch profiling off again")),
        f"```{recipe.language}\n{recipe.switch_off}\n```",
        shown("## ", say("Notes")),
        shown("- ", *recipe.notes),
        shown("", _sources(recipe)),
    ]
    return "\n\n".join(parts) + "\n"


def _title(recipe: Recipe) -> str:
    return say("A profile for {question} with {framework}", question=recipe.question, framework=recipe.framework)


def _sources(recipe: Recipe) -> str:
    return say("Sources: {sources}.", sources=join("; ", recipe.sources))


def _yields(recipe: Recipe) -> list[str]:
    """Each setting with the files that it yields."""
    assigned = [say("{key}={value}", key=setting.key, value=setting.value) for setting in recipe.settings]
    files = [join(", ", setting.files) for setting in recipe.settings]
    return [join(": ", filter(None, pair)) for pair in zip(assigned, files, strict=True)]


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in code.splitlines())
