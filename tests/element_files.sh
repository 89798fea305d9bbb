#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Files from qtmux, judged by ffprobe, ffmpeg, gst-discoverer-1.0 and proresnv-inspect, where that is built:
# element_files.sh ELEMENT_LAUNCH APP_RECORD [PRORESNV_INSPECT]
set -eu
launch=$1
record=$2
inspect=${3:-}
for tool in ffprobe ffmpeg gst-discoverer-1.0; do
    command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failures=0

fail() {
    echo "FAIL: $*"
    failures=$((failures + 1))
}

# same WHAT GOT WANTED
same() {
    [ "$2" = "$3" ] || fail "$1: \"$2\" instead of \"$3\""
}

# What ffprobe says of the video stream: probe FILE FIELD
probe() {
    ffprobe -v error -select_streams v:0 -show_entries "stream=$2" -of default=nw=1:nk=1 "$1"
}

# N bytes of the payload of the last atom of a type, in hex: atom FILE TYPE N. The moov atom is at the end.
atom() {
    at=$(grep -abo "$2" "$1" | tail -n 1 | cut -d : -f 1)
    od -A n -t x1 -j $((at + 4)) -N "$3" "$1" | tr -d ' \n'
}

# What the strict reader has to say of a file, notes included.
strict() {
    [ -z "$inspect" ] || "$inspect" --werror "$@" >"$dir/inspect" || fail "$1: $(cat "$dir/inspect")"
}

# A file that is whole: as many frames, and nothing that a decoder has to say. whole FILE FRAMES [FIEL]
whole() {
    strict "$1"
    same "$1 frames" "$(ffprobe -v error -select_streams v:0 -count_packets -show_entries stream=nb_read_packets \
        -of default=nw=1:nk=1 "$1")" "$2"
    same "$1 decodes" "$(ffmpeg -v warning -i "$1" -an -f null - 2>&1 |
        grep -v "Guessed Channel Layout")" ""
    same "$1 field order" "$(atom "$1" fiel 2)" "${3:-0100}"
}

# One byte of the frame header of the first frame, in hex, counted from the start of the frame: header FILE OFFSET.
header() {
    at=$(grep -abo icpf "$1" | head -n 1 | cut -d : -f 1)
    od -A n -t x1 -j $((at - 4 + $2)) -N 1 "$1" | tr -d ' '
}

# profile PROPERTIES FORMAT FOURCC COMPRESSOR FFMPEG-PROFILE VARIANT DEPTH
profile() {
    file=$dir/$3.mov
    $launch 1 videotestsrc num-buffers=5 ! "video/x-raw,format=$2,width=320,height=242,framerate=25/1" ! \
        proresnvenc $1 ! qtmux ! filesink location="$file" >"$dir/log" || fail "$3: $(cat "$dir/log")"
    whole "$file" 5
    same "$3 fourcc" "$(probe "$file" codec_tag_string)" "$3"
    same "$3 profile" "$(probe "$file" profile)" "$5"
    grep -aq "$4" "$file" || fail "$3: no compressor name $4"
    discovered=$(GST_PLUGIN_PATH='' GST_REGISTRY="$dir/registry" gst-discoverer-1.0 -v "$file")
    case $discovered in
    *"variant=(string)$6"*) ;;
    *) fail "$3: gst-discoverer finds no variant $6" ;;
    esac
    # The depth of the sample entry stands 82 bytes after its type.
    same "$3 depth" "$(od -A n -t x1 -j $(($(grep -abo "$3" "$file" | tail -n 1 | cut -d : -f 1) + 78)) -N 2 "$file" |
        tr -d ' ')" "$7"
}

profile "profile=proxy" Y42B apco "Apple ProRes 422 Proxy" Proxy proxy 0018
profile "profile=lt" I422_12LE apcs "Apple ProRes 422 LT" LT lt 0018
profile "profile=standard" I422_10LE apcn "Apple ProRes 422" Standard standard 0018
profile "" I422_10LE apch "Apple ProRes 422 HQ" HQ hq 0018
profile "" Y444_12LE ap4h "Apple ProRes 4444" 4444 4444 0018
profile "profile=4444xq" Y444_10LE ap4x "Apple ProRes 4444 XQ" XQ 4444xq 0018

# Every format of the sink caps.
for format in Y42B I422_10LE I422_12LE Y444 Y444_10LE Y444_12LE Y444_16LE AYUV A444_10LE AYUV64; do
    for control in target "constant-quantizer quantizer=3"; do
        file=$dir/$format.mov
        $launch 1 videotestsrc num-buffers=3 pattern=ball background-color=0x40204060 ! \
            "video/x-raw,format=$format,width=322,height=182,framerate=25/1" ! \
            proresnvenc rate-control=$control ! qtmux ! filesink location="$file" >"$dir/log" ||
            fail "$format: $(cat "$dir/log")"
        whole "$file" 3
        case $format in
        AYUV* | A444*) same "$format alpha" "$(header "$file" 25)" 02 ;;
        *) same "$format alpha" "$(header "$file" 25)" 00 ;;
        esac
    done
done

# fields CAPS FORMAT FIEL ORDER HEADER: container, ffprobe and frames say the same order of fields, for woven frames and
# for fields in buffers of their own.
fields() {
    for apart in 0 1; do
        file=$dir/fields.mov
        if [ $apart = 0 ]; then
            $launch 1 videotestsrc num-buffers=4 pattern=ball background-color=0x40204060 ! \
                "video/x-raw,format=$2,$1,interlace-mode=interleaved,field-order=$4-field-first" ! \
                proresnvenc ! qtmux ! filesink location="$file" >"$dir/log" || fail "$1: $(cat "$dir/log")"
        else
            gst-inspect-1.0 interlace >/dev/null 2>&1 || continue
            tff=$([ "$4" = top ] && echo true || echo false)
            rate=$(echo "$1" | sed 's/.*framerate=\([0-9]*\).*/\1/')
            $launch 1 videotestsrc num-buffers=8 pattern=ball background-color=0x40204060 ! \
                "video/x-raw,format=$2,$(echo "$1" | sed "s/framerate=$rate/framerate=$((2 * rate))/")" ! \
                interlace field-pattern=1:1 top-field-first=$tff ! \
                "video/x-raw(format:Interlaced),interlace-mode=alternate" ! \
                proresnvenc ! qtmux ! filesink location="$file" >"$dir/log" || fail "$1 apart: $(cat "$dir/log")"
        fi
        whole "$file" 4 "$3"
        same "$1 field_order" "$(probe "$file" field_order)" "$5"
        same "$1 header" "$(header "$file" 20)" "$6"
    done
}

# ffprobe reads 9 as "tb" and 14 as "bt": stored and shown first.
fields width=720,height=486,framerate=30000/1001,pixel-aspect-ratio=10/11 I422_10LE 020e bottom bt 88
fields width=720,height=576,framerate=25/1,pixel-aspect-ratio=59/54 I422_10LE 0209 top tb 84
fields width=1920,height=1080,framerate=25/1 Y42B 0209 top tb 84
fields width=1920,height=1080,framerate=30000/1001 AYUV64 0209 top tb c4

# colours CAPS SIZE COLR PASP: the sample entry says what the caps and the frames say.
colours() {
    file=$dir/colours.mov
    $launch 1 videotestsrc num-buffers=2 ! "video/x-raw,format=I422_10LE,$2,framerate=25/1,$1" ! proresnvenc ! \
        qtmux ! filesink location="$file" >"$dir/log" || fail "$1: $(cat "$dir/log")"
    whole "$file" 2
    same "$1 colr" "$(atom "$file" colr 10)" "6e636c63$3" # nclc
    same "$1 pasp" "$(atom "$file" pasp 8)" "$4"
    same "$1 header" "00$(header "$file" 22)00$(header "$file" 23)00$(header "$file" 24)" "$3"
}

colours colorimetry=bt709,pixel-aspect-ratio=1/1 width=640,height=360 000100010001 0000000100000001
colours colorimetry=bt601,pixel-aspect-ratio=10/11 width=720,height=486 000600010006 0000000a0000000b
colours "colorimetry=(string)2:4:5:3,pixel-aspect-ratio=59/54" width=720,height=576 000500010006 0000003b00000036
colours colorimetry=bt2020,pixel-aspect-ratio=1/1 width=640,height=360 000900010009 0000000100000001
colours colorimetry=bt2100-pq,pixel-aspect-ratio=1/1 width=640,height=360 000900100009 0000000100000001
colours colorimetry=bt2100-hlg,pixel-aspect-ratio=1/1 width=640,height=360 000900120009 0000000100000001

# levels CAPS [ELEMENT...]: black and white of RGB that came as full range video, first luma sample, as ffmpeg reads it in
# 10 bits; one code of 8 bits off may be videoconvert's. The source of patterns itself makes video range always.
levels() {
    caps=$1
    shift
    for level in black:64 white:940; do
        file=$dir/levels.mov
        $launch 1 videotestsrc num-buffers=1 pattern="${level%:*}" ! video/x-raw,format=RGB,width=64,height=48 ! \
            videoconvert ! "video/x-raw,$caps" ! "$@" videoconvert ! \
            proresnvenc rate-control=constant-quantizer quantizer=1 ! qtmux ! filesink location="$file" >"$dir/log" ||
            fail "$caps: $(cat "$dir/log")"
        # RDD 36 has no code for the transfer function of sRGB, which the container does say.
        strict "$file" --allow container-colour
        luma=$(ffmpeg -v error -i "$file" -pix_fmt yuv422p10le -f rawvideo - | od -A n -t u2 -N 2 | tr -d ' ')
        off=$((luma - ${level#*:}))
        [ ${off#-} -le 4 ] || fail "$caps ${level%:*}: $luma instead of ${level#*:}"
    done
}

levels "format=I420,colorimetry=(string)1:4:0:0"
levels "format=Y42B,colorimetry=(string)1:3:5:1"
levels "format=Y444,colorimetry=(string)1:4:7:1"
levels "format=RGB"
if gst-inspect-1.0 jpegenc >/dev/null 2>&1; then
    levels "format=I420,colorimetry=(string)1:4:7:1" jpegenc quality=100 ! jpegdec !
fi

# Time codes become a track.
file=$dir/timecode.mov
$launch 1 videotestsrc num-buffers=10 ! video/x-raw,format=I422_10LE,width=320,height=240,framerate=25/1 ! \
    timecodestamper set=always source=internal ! proresnvenc ! qtmux ! filesink location="$file" >"$dir/log" ||
    fail "timecode: $(cat "$dir/log")"
whole "$file" 10
same "time code track" "$(ffprobe -v error -select_streams d:0 -show_entries stream=codec_tag_string \
    -of default=nw=1:nk=1 "$file")" tmcd

# With sound, a queue to each side.
file=$dir/sound.mov
$launch 1 videotestsrc num-buffers=25 ! video/x-raw,format=I422_10LE,width=320,height=240,framerate=25/1 ! queue ! \
    proresnvenc pipeline-depth=3 ! queue ! qtmux name=mux ! filesink location="$file" \
    audiotestsrc num-buffers=44 ! audio/x-raw,rate=44100,channels=2 ! queue ! mux. >"$dir/log" || fail "sound: $(cat "$dir/log")"
whole "$file" 25
same "sound" "$(ffprobe -v error -select_streams a:0 -show_entries stream=codec_type -of default=nw=1:nk=1 "$file")" audio

# A live source: each frame of five seconds is there, none dropped, with qos and without.
for qos in false true; do
    file=$dir/live.mov
    $launch 1 videotestsrc is-live=true num-buffers=125 ! video/x-raw,format=I422_10LE,width=1280,height=720,framerate=25/1 ! \
        queue ! proresnvenc qos=$qos ! qtmux ! filesink location="$file" >"$dir/log" || fail "live: $(cat "$dir/log")"
    whole "$file" 125
    same "live qos=$qos" "$(grep -o 'frames=(guint64)[0-9]*, dropped=(guint64)[0-9]*' "$dir/log")" \
        "frames=(guint64)125, dropped=(guint64)0"
done

# An application.
file=$dir/app.mov
$record "$file" 20 || fail "app_record"
whole "$file" 20
same "app fourcc" "$(probe "$file" codec_tag_string)" apch

[ $failures = 0 ] || exit 1
echo "all files are as they should be"
