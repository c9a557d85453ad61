#!/bin/sh
# Installs Treeglot. With an argument, it also shows or tests Treeglot:
#
#     sh install.sh           install
#     sh install.sh demo      install, then run `treeglot demo`
#     sh install.sh test      install with the test extras, then run the tests
#
# The script installs into the active virtual environment, or into .venv beside this file. PYTHON chooses the interpreter.
# On Debian it needs some packages: root gets them installed, and other users are told their names.
set -eu
cd "$(dirname "$0")"

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

task=${1:-install}
case $task in
    install | demo | test) ;;
    *) echo "usage: sh install.sh [demo|test]" >&2; exit 2 ;;
esac

python=${PYTHON:-python3}
found() { command -v "$1" >/dev/null; }
runs() { "$python" -c "$1" 2>/dev/null; }

if found "$python"; then
    runs 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "$("$python" --version) is too old; install Python 3.10 or newer, or set PYTHON"
elif [ "$python" != python3 ] || ! found apt-get; then
    fail "$python is not a command; install Python 3.10 or newer, or set PYTHON"
fi

# Lists the missing packages that each task needs.
needed() {
    found "$python" || echo python3
    runs 'import ensurepip, venv' || echo python3-venv
    runs 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' || echo python3-dev
    found "${CXX:-c++}" || echo g++
}

# Lists the missing packages that only the tests need.
needed_by_tests() {
    found git || echo git
    found chromium || found chromium-browser || found google-chrome || echo chromium
    found groff || echo groff-base
    found make || echo make  # pip builds kenlm with it
    if ! found java; then  # Spark needs Java 17 or newer
        if [ -n "$(apt-cache madison openjdk-17-jre-headless 2>/dev/null)" ]; then
            echo openjdk-17-jre-headless
        else
            echo default-jre-headless
        fi
    fi
}

missing() {
    needed
    if [ "$task" = test ]; then needed_by_tests; fi
}

if found apt-get; then
    if [ -n "$(missing)" ] && [ "$(id -u)" = 0 ]; then
        apt-get update -qq
        packages=$(missing | tr '\n' ' ')
        echo "installing Debian packages: $packages"
        log=$(mktemp)
        # shellcheck disable=SC2086 # a list of packages
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >"$log" 2>&1 ||
            { tail -n 20 "$log" >&2; fail "apt-get cannot install $packages"; }
        rm -f "$log"
    fi
    packages=$(missing | tr '\n' ' ')
    [ -z "$packages" ] || fail "install these packages first: sudo apt-get install $packages"
else
    [ -z "$(needed)" ] || fail "install Python 3.10 or newer with its venv module and headers, and a C++ compiler"
    [ "$task" != test ] || [ -z "$(needed_by_tests)" ] ||
        echo "install.sh: some tests are skipped: they need $(needed_by_tests | tr '\n' ' ')" >&2
fi

if runs 'import sys; sys.exit(sys.prefix != sys.base_prefix)'; then
    [ -x .venv/bin/python ] || "$python" -m venv .venv
    python=$PWD/.venv/bin/python
    bin=$PWD/.venv/bin
else
    bin=$("$python" -c 'import sysconfig; print(sysconfig.get_path("scripts"))')
fi

package='.[web]'
[ "$task" = test ] && package='.[test]'
"$python" -m pip install --quiet --disable-pip-version-check "$package"

case $task in
    install) echo "installed: $bin/treeglot" ;;
    demo)
        "$bin/treeglot" demo
        echo "in a browser: $bin/treeglot serve --demo"
        ;;
    test) exec "$python" -m pytest -n auto tests ;;
esac
