#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# check_shared.sh FILE...: programs, libraries or objects with kernels for the emulated CUDA runtime. g++ ignores the
# section of __shared__ variables in templates; outside of it they are not filled before each block, and bank conflicts
# are not counted. Kernels have no other static variables, so that each one elsewhere is such a one.
set -u
command -v objdump >/dev/null || {
    echo "no objdump"
    exit 77
}
symbols=$(objdump -t "$@") || exit 1
n=$(echo "$symbols" | grep -c 'hostcuda_shared.*_ZZ')
stray=$(echo "$symbols" | grep -E '[[:space:]]\.(t?bss|t?data)[^[:space:]]*[[:space:]].*_ZZ' | grep -v '_ZZNSt')
if [ -n "$stray" ]; then
    echo "__shared__ variables outside of their section (in a template?):"
    echo "$stray" | awk '{print "  " $NF}' | if command -v c++filt >/dev/null; then c++filt; else cat; fi
    exit 1
fi
echo "$n __shared__ variables, all in their section"
