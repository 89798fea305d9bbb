#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs between READY and PLAYING, with and without an end, under the leaks tracer of GStreamer and under valgrind:
# frames, and single fields, one of which often waits for the other when the run ends. element_leaks.sh ELEMENT_LAUNCH
set -eu
launch=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
frames="videotestsrc num-buffers=12 ! video/x-raw,format=I422_10LE,width=64,height=48 !
    proresnvenc pipeline-depth=3 qos=true ! fakesink sync=false"
fields="videotestsrc num-buffers=24 ! video/x-raw,format=AYUV,width=64,height=48,framerate=50/1 !
    interlace field-pattern=1:1 ! video/x-raw(format:Interlaced),interlace-mode=alternate !
    proresnvenc pipeline-depth=3 ! fakesink sync=false"

# Objects, buffers, caps, events that are still there after gst_deinit().
objects() {
    GST_TRACERS=leaks GST_DEBUG=GST_TRACER:7 $launch 5 "$@" >"$log" 2>&1 || { cat "$log"; exit 1; }
    if grep -a 'object-alive, type-name=(string)[A-Z]' "$log"; then
        echo "FAIL: objects are left"
        exit 1
    fi
    grep -aq 'frames=(guint64)12' "$log" || { cat "$log"; exit 1; }
}

objects $frames
if gst-inspect-1.0 interlace >/dev/null 2>&1; then
    objects $fields
else
    fields=
fi

command -v valgrind >/dev/null || { echo "no valgrind: memory not checked"; exit 77; }
# Blocks that nothing points to and that our code, or what it called, allocated.
memory() {
    GLIBCXX_FORCE_NEW=1 G_SLICE=always-malloc valgrind --leak-check=full --show-leak-kinds=definite --num-callers=40 \
        --log-file="$log" $launch 3 "$@" >/dev/null || { cat "$log"; exit 1; }
    if sed 's/^==[0-9]*== *//' "$log" |
        awk -v RS= '/(definitely lost in loss|Invalid (read|write|free)|uninitialised)/ && /libgstproresnv|pnv_/' |
        grep .; then
        echo "FAIL: valgrind found the above"
        exit 1
    fi
    grep -a "ERROR SUMMARY" "$log"
}

memory $frames
[ -z "$fields" ] || memory $fields
