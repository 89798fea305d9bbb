#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job in one command: quickstart.sh [INPUT [OUTPUT.mov]]
# Installs what is missing, builds, and encodes INPUT (any file that GStreamer decodes) with its audio to ProRes 422 HQ.
# Without INPUT: ten seconds of a moving test pattern at 1920x1080 with a tone, in quickstart.mov.
set -u
source_folder=$(cd "$(dirname "$0")/.." && pwd) || exit 1
. "$source_folder/tests/packages.sh"

fail() {
    echo "quickstart: $*" >&2
    exit 1
}

case "${1-}" in
-h | --help)
    echo "usage: tests/quickstart.sh [INPUT [OUTPUT.mov]]"
    exit 0
    ;;
esac
[ $# -le 2 ] || fail "usage: tests/quickstart.sh [INPUT [OUTPUT.mov]]"
input=${1-}
if [ -n "$input" ]; then
    [ -r "$input" ] || fail "cannot read $input"
    input=$(realpath "$input")
    name=$(basename "$input")
    output=${2-${name%.*}-prores.mov}
else
    output=${2-quickstart.mov}
fi
[ -d "$(dirname "$output")" ] || fail "there is no folder $(dirname "$output") for $output"
output=$(realpath "$output") || fail "cannot write $output"
[ "$output" != "$input" ] || fail "$output is the input; name another output"

# shellcheck disable=SC2086 # words on purpose
need_packages $build_packages || exit 1

build=$source_folder/build
log=$(mktemp)
decoded=$(mktemp)
trap 'rm -f "$log" "$decoded"' EXIT
echo "Building in $build"
if ! { [ -f "$build/build.ninja" ] || meson setup "$build" "$source_folder" -Dtests=false; } >"$log" 2>&1 ||
    ! ninja -C "$build" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    fail "the build failed; its last words are above"
fi
export GST_PLUGIN_PATH="$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}"

# Without a picture there is nothing to do; without sound the muxer must not wait for it.
if [ -n "$input" ]; then
    gst-discoverer-1.0 "$input" >"$decoded" 2>&1
    grep -qE '^ +video( #[0-9]+)?:' "$decoded" || {
        grep -iE 'error|missing|could not|not found' "$decoded" >&2
        fail "found no video in $input that GStreamer can decode"
    }
fi

# progressreport has the whole length only where the source knows it.
to_prores='queue ! videoconvert ! progressreport update-freq=2 name=progress ! proresnvenc profile=hq ! mux.'
to_audio='queue ! audioconvert ! audioresample ! mux.'
echo "Encoding ${input:-a test pattern} to $output"
begin=$(date +%s%N)
if [ -z "$input" ]; then
    gst-launch-1.0 -q -e qtmux name=mux ! filesink location="$output" \
        videotestsrc num-buffers=250 pattern=smpte horizontal-speed=6 \
        ! video/x-raw,format=I422_10LE,width=1920,height=1080,framerate=25/1 ! $to_prores \
        audiotestsrc num-buffers=250 samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! $to_audio
elif grep -qE '^ +audio( #[0-9]+)?:' "$decoded"; then
    gst-launch-1.0 -q -e qtmux name=mux ! filesink location="$output" \
        filesrc location="$input" ! decodebin name=source \
        source. ! $to_prores source. ! $to_audio
else
    gst-launch-1.0 -q -e qtmux name=mux force-chunks=true ! filesink location="$output" \
        filesrc location="$input" ! decodebin name=source source. ! $to_prores
fi || fail "encoding failed; what GStreamer says is above"
end=$(date +%s%N)

"$build/encoder/proresnv-inspect" "$output" || fail "$output is not what it should be; the report is above"
frames=$("$build/encoder/proresnv-inspect" --json "$output" | grep -m 1 -oE '"frames": *[0-9]+' | grep -oE '[0-9]+')
[ "${frames:-0}" -gt 0 ] || fail "no frame was written"
awk -v n="$frames" -v ns="$((end - begin))" \
    'BEGIN { printf "\n%d frames in %.1f s: %.1f fps, reading and writing included.\n", n, ns / 1e9, n * 1e9 / ns }'
echo "Play it:   gst-play-1.0 \"$output\"   or   ffplay \"$output\""
