# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, for the scripts that source it: `need_packages NAME...` (Debian packages).
# Works as root or with sudo; says what it would need where it can do neither.

need_packages() {
    missing=""
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null 2>&1 || {
            echo "error: please install$missing (neither root nor sudo here)" >&2
            return 1
        }
        as_root=sudo
    fi
    echo "installing$missing" >&2
    $as_root apt-get update -qq >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# What building needs.
BUILD_PACKAGES="gcc libc6-dev cmake ninja-build pkg-config libgsl-dev libcjson-dev libsqlite3-dev zlib1g-dev"
# What the tests need beside it.
TEST_PACKAGES="check clang jq sqlite3 gzip libsimgrid-dev"
