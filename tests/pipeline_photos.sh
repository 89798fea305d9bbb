#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Photographs rather than patterns: a full-range MJPEG and an H.264 file made of them go through quickstart, and come
# back as they were, at the right levels. pipeline_photos.sh, in the source tree; exits 77 without photographs.
set -eu
cd "$(dirname "$0")/.."
photos=$(ls /usr/share/backgrounds/mate/nature/*.jpg /usr/share/backgrounds/mate/abstract/*.jpg 2>/dev/null | head -n 8)
if [ -z "$photos" ]; then
    echo "skipped: no photographs; Debian's package mate-backgrounds has some"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

n=0
for photo in $photos; do
    n=$((n + 1))
    ffmpeg -nostdin -v error -i "$photo" -vf scale=1280:720 -frames:v 1 "$folder/photo-$n.png"
done
frames="-framerate 5 -i $folder/photo-%d.png -f lavfi -i sine=r=48000 -shortest -r 25"
# shellcheck disable=SC2086 # words on purpose
ffmpeg -nostdin -v error $frames -c:v mjpeg -pix_fmt yuvj422p -q:v 2 -c:a pcm_s16le "$folder/mjpeg.mov"
# shellcheck disable=SC2086
ffmpeg -nostdin -v error $frames -c:v libx264 -preset ultrafast -qp 10 -pix_fmt yuv420p -colorspace bt709 \
    -color_primaries bt709 -color_trc bt709 -c:a aac "$folder/h264.mp4"

failed=0
for input in mjpeg.mov h264.mp4; do
    output=$folder/${input%.*}-prores.mov
    if ! tests/quickstart.sh "$folder/$input" "$output" >"$folder/log" 2>&1; then
        cat "$folder/log"
        echo "$input: quickstart failed"
        failed=1
        continue
    fi
    # ffmpeg's own way of both to one range and format: what differs is what ProRes lost.
    psnr=$(ffmpeg -nostdin -v error -i "$output" -i "$folder/$input" -lavfi \
        "[0:v]scale=in_range=tv:out_range=tv,format=yuv422p10le[a];[1:v]scale=out_range=tv,format=yuv422p10le[b];[a][b]psnr=f=-" \
        -f null - | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^psnr_avg:/) { sub(/.*:/, "", $i); s += ($i == "inf" ? 99 : $i); n++ } }
            END { if (n) printf "%.2f %d\n", s / n, n }')
    sound=$(ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 "$output")
    echo "$input: psnr and frames $psnr, sound $sound"
    if ! echo "$psnr" | awk '{ exit !($1 > 38 && $2 >= 5) }' || [ -z "$sound" ]; then
        echo "$input: not what went in"
        failed=1
    fi
done
exit $failed
