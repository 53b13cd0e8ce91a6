#!/usr/bin/env bash
# Build, then install wheel and sdist into clean environments of the Pythons named, and try them:
# tests/release.sh python3.11 python3.13
set -euo pipefail
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
.venv/bin/python -m build --outdir "$place/dist" > "$place/build.log"
for python in "$@"; do
    for built in "$place"/dist/*; do
        "$python" -m venv --clear "$place/core"
        "$place/core/bin/python" -m pip install --quiet --disable-pip-version-check "$built"
        (cd "$place" && core/bin/python "$OLDPWD/tests/smoke.py")
    done
    "$python" -m venv --clear "$place/all"
    wheel=$(ls "$place"/dist/*.whl)
    "$place/all/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$wheel[lab,service,gym]"
    (cd "$place" && all/bin/python "$OLDPWD/tests/smoke.py" && all/bin/evenhand doctor)
done
