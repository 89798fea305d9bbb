#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# proresnv-bench measures, says so in JSON, draws, and refuses what it does not understand. unit_bench.sh BENCH SOURCE
set -eu
bench=$1
source=$2 # its table of formats
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

# Every format under a 4:2:2 profile, some under a 4:4:4 one. What only lies elsewhere codes to the same bytes.
bytes_of() {
    # shellcheck disable=SC2086
    $bench $small --rounds 1 --format "$1" --profile "$2" --json >"$folder/json"
    grep -q "\"format\": \"$1\"" "$folder/json"
    sed -n 's/.*"bytes_per_frame": \([0-9.]*\).*/\1/p' "$folder/json" >"$folder/bytes-$1"
    [ -s "$folder/bytes-$1" ]
}
formats=$(sed -n 's/^    [A-Z]*("\([a-z0-9]*\)".*/\1/p' "$source")
[ "$(echo "$formats" | wc -l)" -ge 25 ]
for format in $formats; do
    bytes_of "$format" hq
done
for pair in v210:yuv422p10le y210le:yuv422p10le uyvy422:yuv422p yuyv422:yuv422p nv16:yuv422p nv12:yuv420p \
    p010le:yuv420p10le x2rgb10le:gbrp10le; do
    cmp "$folder/bytes-${pair%:*}" "$folder/bytes-${pair#*:}"
done
for format in v210 nv12 bgra; do
    bytes_of "$format" 4444
done

# One format against another, in turn.
# shellcheck disable=SC2086
$bench $small --format v210 --against yuv422p10le --no-stages --json >"$folder/json"
python3 - "$folder/json" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[1]))['against']
assert found['format'] == 'yuv422p10le' and found['ratio'] > 0
assert found['bytes_per_frame'][0] == found['bytes_per_frame'][1] > 0
PYTHON

# A file's frames give the same bytes as memory's; the last part of a frame does not count.
head -c 100000 /dev/zero >"$folder/zero.yuv"
# shellcheck disable=SC2086
$bench $small --input "$folder/zero.yuv" --no-stages --json | grep -q '"frames": 1,'

# The kernels: a place of this machine has a time, the fastest one chooses the frame's, and the text has them all.
"$bench" --kernels --rounds 1 >"$folder/kernels"
"$bench" --kernels --rounds 1 --json >"$folder/kernels.json"
python3 - "$folder/kernels.json" "$folder/kernels" <<'PYTHON'
import json, sys
rows = json.load(open(sys.argv[1]))['kernels']
text = open(sys.argv[2]).read()
assert len({(row['name'], row['bits']) for row in rows}) == len(rows)
for row in rows:
    times = row['ns_per_block']
    assert list(times) == ['c', 'avx2', 'avx512', 'neon', 'cuda'] and times['c'] > 0, row
    assert times[row['fastest']] == min(t for t in times.values() if t is not None), row
    assert abs(row['ms_per_frame'] - 1e-6 * row['blocks_per_frame'] * times[row['fastest']]) < 1e-3, row
    assert '\n%-20s %4d ' % (row['name'], row['bits']) in text, row
for x in range(4):
    for y in range(4):
        assert any(row['name'] == 'interpolate mc%d%d' % (x, y) for row in rows), (x, y)
for name in 'color', 'decimate':
    assert any(row['name'] == name for row in rows), name
PYTHON

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
refused --format yuv422p10
refused --against yuv422p --input "$folder/zero.yuv"
refused --nonsense
echo "bench: text, JSON, plot, files, kernels and refusals"
