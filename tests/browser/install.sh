#!/bin/sh
# What the browser tests use besides Python: Debian's chromium, and axe-core as package-lock.json names it. Where there is no
# right or no way to install them the tests are skipped and say why; where CI is set, they fail instead.
set -u
cd "$(dirname "$0")" || exit 1

installed() { command -v "$1" >/dev/null 2>&1; }
missing=""
installed chromium || missing="chromium fonts-dejavu-core"
installed npm || missing="$missing npm"

if [ -n "$missing" ] && installed apt-get && [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2086 -- several packages
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $missing; } >/dev/null ||
        echo "not installed: $missing" >&2
fi
if installed npm && [ "$(cat node_modules/.lock 2>/dev/null)" != "$(cat package-lock.json)" ]; then
    if npm ci --silent --no-audit --no-fund --ignore-scripts; then
        cp package-lock.json node_modules/.lock
    else
        echo "not installed: axe-core" >&2
    fi
fi
exit 0
