#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The plugin registers everywhere, and its caps list CUDA memory only where it can be had.
# Arguments: folder of the plugin, folder of the emulated driver, folder of a driver that is too old.
set -u
plugin=$1 driver=$2 old=$3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/empty" "$dir/broken"
echo "no library" >"$dir/broken/libgstcuda-1.0.so.0"
failed=0

fail() {
    echo "$*" >&2
    failed=1
}

# inspect NAME FOLDERS: the element as a registry of that name sees it where these folders have libraries
inspect() {
    LD_LIBRARY_PATH=$2 GST_REGISTRY=$dir/$1.bin GST_PLUGIN_PATH=$plugin GST_PLUGIN_SYSTEM_PATH=$dir/empty \
        gst-inspect-1.0 ${3-proresnvenc} 2>&1
}

lists() {
    inspect "$1" "$2" | grep -q 'memory:CUDAMemory' || fail "$3: CUDA memory is not listed"
    registers "$@"
}

lists_not() {
    inspect "$1" "$2" | grep -q 'memory:CUDAMemory' && fail "$3: CUDA memory is listed"
    registers "$@"
}

registers() {
    inspect "$1" "$2" | grep -q 'Y444_16LE' || fail "$3: no element: $(inspect "$1" "$2" | tail -n 3)"
    inspect "$1" "$2" --print-plugin-auto-install-info >/dev/null
    [ "$(inspect "$1" "$2" -b | grep -c '\.so')" = 0 ] || fail "$3: blacklisted"
}

lists_not none "$dir/empty" "no driver"
lists here "$driver" "a driver"
lists none "$driver" "a driver that has come"       # the registry knows of none
lists_not here "$dir/empty" "a driver that has gone"
lists_not old "$old" "a driver that is too old"
lists_not library "$dir/broken:$driver" "no libgstcuda"
PNV_HOSTCUDA_DEVICES=0 lists devices "$driver" "no GPU"

# without GPU or driver it encodes all the same, and says why it cannot where it is asked to
encode() {
    LD_LIBRARY_PATH=$1 GST_REGISTRY=$dir/all.bin GST_PLUGIN_PATH=$plugin \
        gst-launch-1.0 videotestsrc num-buffers=2 ! proresnvenc backend="$2" ! fakesink 2>&1
}
for folders in "$dir/empty" "$driver" "$old" "$dir/broken:$driver"; do
    PNV_HOSTCUDA_DEVICES=0 encode "$folders" auto | grep -q 'EOS' || fail "no frames with $folders"
done
PNV_HOSTCUDA_DEVICES=0 encode "$driver" cuda | grep -q 'no NVIDIA GPU here' || fail "no GPU: not said"
PNV_HOSTCUDA_DRIVER=9000 encode "$driver" cuda | grep -q 'driver is too old' || fail "old driver: not said"
exit $failed
