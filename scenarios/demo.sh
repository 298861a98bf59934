#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and compares Kimi K3 on the three racks everybody argues about.
set -eu
cd "$(dirname "$0")/.."
. tests/packages.sh
need_packages $BUILD_PACKAGES
[ -f build/release/build.ninja ] || cmake --preset release -G Ninja -DBUILD_TESTING=OFF >&2
cmake --build --preset release --target rackcast >&2
rackcast=build/release/sim/rackcast
echo
echo "Kimi K3 on 8 x MI355X, 16 x B200 and 8 x B300: does it fit?"
echo
for scenario in k3-8xmi355x k3-16xb200 k3-8xb300; do
    "$rackcast" fit "$scenario" | sed -n 1p
done
echo
echo "1,024 tokens in, 400 out, 24 clients, no drafts:"
echo
"$rackcast" compare k3-8xmi355x k3-16xb200 k3-8xb300
echo
echo "Why is one step on 8 x B300 as long as it is?"
echo
"$rackcast" explain k3-8xb300 | sed -n 1,20p
echo
echo "Next: $rackcast --help, and change one thing:"
echo "  $rackcast run k3-8xb300 --set workload.arrival.clients=48"
