"""Real shells with the script of the completion, in a terminal of their own: what stands in the line after Tab."""

from __future__ import annotations

import os
import pty
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("aoe-reports")
SHELLS = [shell for shell in ("bash", "zsh", "fish") if shutil.which(shell)]

_READY, _BEGIN, _END = "<ready>", "<line:", ":line>"
_SETUP = {
    "bash": f"""
bind 'set bell-style none'
bind 'set enable-bracketed-paste off'
bind 'set completion-query-items 0'
bind 'set page-completions off'
told() {{ printf '{_BEGIN}%s{_END}' "$READLINE_LINE"; }}
bind -x '"\\C-x":told'
PS1='{_READY}'
source ./completion
""",
    "zsh": f"""
autoload -U compinit; compinit -u -D
setopt no_beep
told() {{ printf '{_BEGIN}%s{_END}' "$BUFFER" }}
zle -N told; bindkey '^X' told
zle-line-init() {{ printf '{_READY}' }}
zle -N zle-line-init
source ./completion
""",
}
_STARTED = {"bash": ["bash", "--noprofile", "--rcfile", "setup", "-i"], "zsh": ["zsh", "-i"]}


@cache
def script_of(shell: str) -> str:
    """What `--show-completion` prints."""
    environment = {**os.environ, "_AOE_REPORTS_COMPLETE": f"source_{shell}"}
    return subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, check=True).stdout


def completed(shell: str, typed: str, folder: Path) -> str:
    """The line after Tab: of bash and zsh as their editors have it, of fish with what it offers if that is one thing."""
    (folder / "completion").write_text(script_of(shell))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AOE_REPORTS_")}
    environment = {**kept, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb"}
    if shell == "fish":
        found = _offered_by_fish(typed, folder, environment)
        return typed.rpartition(" ")[0] + f" {found[0]} " if len(found) == 1 else typed
    (folder / "setup").write_text(_SETUP[shell])
    (folder / ".zshrc").write_text(_SETUP[shell])
    return _edited(_STARTED[shell], typed, folder, {**environment, "ZDOTDIR": str(folder)})


def _offered_by_fish(typed: str, folder: Path, environment: dict[str, str]) -> list[str]:
    asked = ["fish", "--no-config", "--command", "source ./completion; complete --do-complete $argv[1]", typed]
    ended = subprocess.run(asked, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    return [line.partition("\t")[0] for line in ended.stdout.splitlines()]


def _edited(started: list[str], typed: str, folder: Path, environment: dict[str, str]) -> str:
    process, control = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(started[0], started, environment)
    try:
        _read_until(control, _READY)
        os.write(control, f"{typed}\t\x18".encode())
        return _read_until(control, _END).rpartition(_BEGIN)[2]
    finally:
        os.close(control)  # which ends the shell
        os.waitpid(process, 0)


def _read_until(control: int, mark: str) -> str:
    shown = b""
    while mark.encode() not in shown:
        shown += os.read(control, 65536)
    return shown.decode().partition(mark)[0]
