#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# proresnv-bench measures, says so in JSON, draws, and refuses what it does not understand. unit_bench.sh BENCH
set -eu
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
small="--size 160x96 --frames 2 --rounds 2"

# shellcheck disable=SC2086 # words on purpose
$bench $small --cpu c >"$folder/text"
grep -q 'bytes/frame' "$folder/text"
# shellcheck disable=SC2086
$bench $small --json --threads 2 --interlaced --format yuva444p12le --plot "$folder/plot.svg" >"$folder/json"
python3 - "$folder/json" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[1]))
for key in 'cpu_ms_per_frame', 'wall_ms_per_frame', 'fps', 'bytes_per_frame':
    assert found[key] > 0, key
assert found['cpu'] in ('c', 'avx2', 'avx512', 'neon') and found['stages']['nonzero_levels'] > 0
PYTHON
grep -q '</svg>' "$folder/plot.svg"

# A file's frames give the same bytes as memory's; the last part of a frame does not count.
head -c 100000 /dev/zero >"$folder/zero.yuv"
# shellcheck disable=SC2086
$bench $small --input "$folder/zero.yuv" --no-stages --json | grep -q '"frames": 1,'

# refused ARGUMENT ...: exit status 2 and a sentence
refused() {
    status=0
    "$bench" "$@" >"$folder/out" 2>"$folder/err" || status=$?
    if [ "$status" -ne 2 ] || [ ! -s "$folder/err" ]; then
        echo "$*: exit status $status for 2, and $(wc -c <"$folder/err") bytes of explanation"
        exit 1
    fi
}
refused --quantizer 300
refused --size 16by16
refused --format rgb
refused --format yuva444p10le --profile hq
refused --nonsense
echo "bench: text, JSON, plot, files and refusals"
