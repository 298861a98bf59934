# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# What the command-line tests share.  A script sources this file, which takes the program from its first word and moves
# into an empty folder; it then calls `passes`, `fails`, `check` or `verdict` once a case, and ends with `finish`.

[ $# -ge 1 ] && [ -x "$1" ] || {
    echo "usage: sh $(basename "$0") PROGRAM" >&2
    exit 2
}

absolute() { # FILE
    echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}

program=$(absolute "$1")
passed=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM
cd "$folder" || exit 2
# A longer path is searched first; tests want the data that came with the program.
unset RACKCAST_PATH

# ------------------------------------------------------------------------------------------------------------- cases

passes() { # NAME
    passed=$((passed + 1))
    echo "ok $1"
}

fails() { # NAME WHY
    failed=$((failed + 1))
    echo "FAILED $1: $2"
}

skips() { # NAME WHY
    echo "skipped $1: $2"
}

check() { # NAME COMMAND...
    check_name=$1
    shift
    if "$@"; then passes "$check_name"; else fails "$check_name" "$*"; fi
}

# A case of several questions: each calls `because` where the answer is wrong, `verdict` counts the case.
why=""
because() { # TEXT
    why="$why${why:+; }$1"
}

verdict() { # NAME
    if [ -z "$why" ]; then passes "$1"; else fails "$1" "$why"; fi
    why=""
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] || exit 1
    exit 0
}

# ----------------------------------------------------------------------------------------------------------- asking

# Runs the program; leaves its exit code in `code`, what it wrote in the files out and err.
ask() { # WORDS...
    code=0
    "$program" "$@" >out 2>err </dev/null || code=$?
}

exits() { # CODE WORDS...
    exits_wanted=$1
    shift
    ask "$@"
    [ "$code" -eq "$exits_wanted" ]
}

# Runs the program and keeps its answer.
keep() { # FILE WORDS...
    keep_file=$1
    shift
    ask "$@"
    cp out "$keep_file"
    [ "$code" -eq 0 ]
}

# An expression of jq is true for a file.
holds() { # FILE EXPRESSION
    [ -s "$1" ] && jq -e "$2" "$1" >/dev/null 2>&1
}

# Two expressions of jq over two files, $a and $b.
compares() { # FILE FILE EXPRESSION
    [ -s "$1" ] && [ -s "$2" ] && jq -e -n --slurpfile a "$1" --slurpfile b "$2" "(\$a[0]) as \$a | (\$b[0]) as \$b | $3" >/dev/null 2>&1
}
