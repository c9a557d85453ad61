#!/bin/sh
# Installs Treeglot and, when asked, shows or tests it:
#
#     sh install.sh           install
#     sh install.sh demo      install, then run `treeglot demo`
#     sh install.sh test      install with the test extras, then run the tests
#
# In an active virtual environment it installs there; otherwise into .venv beside this file. What Debian leaves out of
# a fresh machine (venv, headers) is installed when run as root, and named otherwise. PYTHON chooses the interpreter.
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
command -v "$python" >/dev/null || fail "no $python here; install Python 3.10 or newer, or set PYTHON"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
    fail "$("$python" --version) is too old; install Python 3.10 or newer, or set PYTHON"

missing=
"$python" -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
"$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    missing="$missing python3-dev"
command -v "${CXX:-c++}" >/dev/null || missing="$missing g++"
if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq
        # shellcheck disable=SC2086 # a list of packages
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing
    else
        fail "needed first: sudo apt-get install$missing"
    fi
fi

if "$python" -c 'import sys; sys.exit(sys.prefix != sys.base_prefix)'; then
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
