#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# spills.sh NVCC-OUTPUT ARGUMENT...: runs nvcc with -Xptxas -v. Fails where a kernel spills registers or has a stack;
# what the assembler said is kept in the file, for docs/cuda.md and the curious.
report=$1
shift
"$@" -Xptxas -v >"$report" 2>&1
status=$?
if [ $status -ne 0 ] || grep -qE 'warning|error' "$report"; then
    cat "$report" >&2
    exit $((status ? status : 1))
fi
if grep -E 'bytes (stack frame|spill)' "$report" | grep -vqE '^ *0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads'; then
    echo "registers spilled, or a kernel has a stack frame:" >&2
    cat "$report" >&2
    exit 1
fi
