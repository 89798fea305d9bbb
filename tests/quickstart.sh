#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The main job in one command: quickstart.sh [INPUT [OUTPUT.mov]]
set -u
source_folder=$(cd "$(dirname -- "$0")/.." && pwd) || exit 1
. "$source_folder/tests/packages.sh"

usage() {
    cat <<'EOF'
usage: tests/quickstart.sh [INPUT [OUTPUT.mov]]

Installs what is missing (apt-get), builds in build-quickstart, and encodes INPUT to ProRes 422 HQ with its first sound
track. INPUT is any file that GStreamer decodes; it is brought to 4:2:2, alpha is left out. OUTPUT is INPUT's name with
-prores.mov, in this folder; it must not exist yet. Without INPUT: ten seconds of a moving test pattern at 1920x1080 with
a tone, in quickstart.mov, which is written anew each time.
EOF
}

fail() {
    echo "quickstart: $*" >&2
    exit 1
}

case "${1-}" in
-h | --help)
    usage
    exit 0
    ;;
--)
    shift
    ;;
-*)
    [ -f "$1" ] || {
        usage >&2
        exit 2
    }
    ;;
esac
[ $# -le 2 ] || {
    usage >&2
    exit 2
}
input=${1-}
if [ -n "$input" ]; then
    [ -f "$input" ] && [ -r "$input" ] || fail "$input is not a file that can be read"
    input=$(realpath -- "$input")
    name=$(basename -- "$input")
    output=${2-${name%.*}-prores.mov}
else
    output=quickstart.mov
fi
case $output in
*.mov) ;;
*) fail "the result is a QuickTime file: let $output end in .mov" ;;
esac
folder=$(dirname -- "$output")
[ -d "$folder" ] && [ -w "$folder" ] || fail "cannot write into $folder"
output=$(realpath -- "$output")
[ -z "$input" ] || [ ! -e "$output" ] || fail "$output exists; remove it or name another OUTPUT"

# shellcheck disable=SC2086 # words on purpose
need_packages $build_packages || exit 1

build=$source_folder/build-quickstart
log=$(mktemp)
decoded=$(mktemp)
status=$(mktemp)
trap 'rm -f "$log" "$decoded" "$status"' EXIT
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

# gst-launch with its warnings and errors, and without what it tells of its own states.
launch() {
    {
        gst-launch-1.0 -e "$@" 2>&1
        echo $? >"$status"
    } | grep -vE '^(Setting|Pipeline|Redistribute|New clock|Got EOS|EOS received|Execution|Freeing|Use Windows|Prerolled|Missed)|^$|^[0-9:.]+ / '
    return "$(cat "$status")"
}

# A backslash means something to gst-launch, in a name it is only itself.
location() {
    printf 'location=%s' "$(printf '%s' "$1" | sed 's/\\/\\\\/g')"
}

to_prores='queue ! videoconvert ! progressreport update-freq=2 name=progress ! proresnvenc profile=hq ! mux.'
to_sound='queue ! audioconvert ! audioresample ! audio/x-raw,format={S16LE,S24LE} ! mux.'
echo "Encoding ${input:-a test pattern} to $output"
begin=$(date +%s%N)
# shellcheck disable=SC2086 # words on purpose
if [ -z "$input" ]; then
    launch qtmux name=mux ! filesink "$(location "$output")" \
        videotestsrc num-buffers=250 pattern=smpte horizontal-speed=6 \
        ! video/x-raw,format=I422_10LE,width=1920,height=1080,framerate=25/1 ! $to_prores \
        audiotestsrc num-buffers=250 samplesperbuffer=1920 ! audio/x-raw,rate=48000,channels=2 ! $to_sound
elif grep -qE '^ +audio( #[0-9]+)?:' "$decoded"; then
    launch qtmux name=mux ! filesink "$(location "$output")" \
        filesrc "$(location "$input")" ! decodebin name=source source. ! $to_prores source. ! $to_sound
else
    launch qtmux name=mux force-chunks=true ! filesink "$(location "$output")" \
        filesrc "$(location "$input")" ! decodebin name=source source. ! $to_prores
fi || {
    rm -f -- "$output"
    fail "encoding failed; what GStreamer says is above"
}
end=$(date +%s%N)

"$build/encoder/proresnv-inspect" "$output" || fail "$output is not what it should be; the report is above"
frames=$("$build/encoder/proresnv-inspect" --json "$output" | grep -m 1 -oE '"frames": *[0-9]+' | grep -oE '[0-9]+')
[ "${frames:-0}" -gt 0 ] || fail "no frame was written"
awk -v n="$frames" -v ns="$((end - begin))" \
    'BEGIN { printf "\n%d frames in %.1f s: %.1f fps, reading and writing included.\n", n, ns / 1e9, n * 1e9 / ns }'
echo "Play it:   gst-play-1.0 \"$output\"   or   ffplay \"$output\""
