#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs every test; prints what each part took.
#   --long   adds what takes more than a few minutes
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh
long=no
for argument in "$@"; do
    case $argument in
    --long) long=yes ;;
    *) echo "usage: sh tests/run.sh [--long]" >&2; exit 2 ;;
    esac
done
export RACKCAST_SHARED="${RACKCAST_SHARED:-$(pwd)/../shared}"
report=""

part() { # NAME COMMAND...
    name=$1
    shift
    echo
    echo "== $name"
    began=$(date +%s)
    "$@"
    report="$report
$(printf '  %-28s %4d s' "$name" $(($(date +%s) - began)))"
}

compile() { # WHAT cmake --build TAKES
    log=$(mktemp)
    if cmake --build "$@" >"$log" 2>&1; then
        tail -n 1 "$log"
        rm -f "$log"
    else
        cat "$log"
        rm -f "$log"
        return 1
    fi
}

build() { # PRESET [CMAKE ARGUMENT]...
    preset=$1
    shift
    cmake --preset "$preset" -G Ninja -DBUILD_TESTING=ON "$@" >/dev/null
    compile --preset "$preset"
}

build_clang() {
    cmake --preset release -G Ninja -B build/clang -DBUILD_TESTING=ON -DCMAKE_C_COMPILER=clang >/dev/null
    compile build/clang
}

check() { # PRESET
    ctest --preset "$1" --no-tests=error
}

bench() {
    build/release/tests/bench "$RACKCAST_SHARED"
}

part "packages" need_packages $BUILD_PACKAGES $TEST_PACKAGES
part "build release (gcc)" build release
part "build release (clang)" build_clang
part "build debug" build debug
part "build sanitizers" build asan
part "tests, release" check release
part "same bytes, debug and release" sh tests/cli/same_bytes.sh build/release/sim/rackcast build/debug/sim/rackcast
part "tests, address and undefined" check asan
part "bench" bench
if [ "$long" = yes ]; then
    part "build thread sanitizer" build tsan
    part "tests, threads" check tsan
fi
echo
echo "what each part took:$report"
