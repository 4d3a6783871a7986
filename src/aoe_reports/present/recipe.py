"""How to take a profile, as text and as Markdown: code stays code, to be copied."""

from __future__ import annotations

from aoe_reports.formats.ascend.profiling import Recipe
from aoe_reports.model.texts import Language, in_language, join, say
from aoe_reports.present.markdown import escape


def render_text(recipe: Recipe, language: Language = "en") -> str:
    """The recipe for a terminal."""
    yields = "\n".join(f"  {in_language(line, language)}" for line in _yields(recipe))
    parts = [
        in_language(_title(recipe), language),
        _indented(recipe.snippet),
        *([in_language(say("Then:"), language), _indented("\n".join(recipe.after))] if recipe.after else []),
        in_language(say("Generated output:"), language) + "\n" + yields,
        in_language(say("To switch profiling off again:"), language),
        _indented(recipe.switch_off),
        *(in_language(note, language) for note in recipe.notes),
        in_language(_sources(recipe), language),
    ]
    return "\n\n".join(parts) + "\n"


def render_markdown(recipe: Recipe, language: Language = "en") -> str:
    """The recipe as Markdown."""

    def told(text: str) -> str:
        return escape(in_language(text, language))

    parts = [
        f"# {told(_title(recipe))}",
        _fenced(recipe.snippet, recipe.language),
        *([f"## {told(say('Then'))}", _fenced("\n".join(recipe.after), "shell")] if recipe.after else []),
        f"## {told(say('Generated output'))}",
        "\n".join(f"- {told(line)}" for line in _yields(recipe)),
        f"## {told(say('To switch profiling off again'))}",
        _fenced(recipe.switch_off, recipe.language),
        f"## {told(say('Notes'))}",
        "\n".join(f"- {told(note)}" for note in recipe.notes),
        told(_sources(recipe)),
    ]
    return "\n\n".join(parts) + "\n"


def _title(recipe: Recipe) -> str:
    return say("A profile for {question} with {framework}", question=recipe.question, framework=recipe.framework)


def _sources(recipe: Recipe) -> str:
    return say("Sources: {sources}.", sources=join("; ", recipe.sources))


def _yields(recipe: Recipe) -> list[str]:
    told: list[str] = []
    for setting in recipe.settings:
        assigned = say("{key}={value}", key=setting.key, value=setting.value)
        told.append(join(": ", (assigned, join(", ", setting.files))) if setting.files else assigned)
    return told


def _indented(code: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in code.splitlines())


def _fenced(code: str, language: str) -> str:
    return f"```{language}\n{code}\n```"
