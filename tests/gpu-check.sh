#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# All that needs a real GPU, in one run. Needs a CUDA toolkit, gcc, meson and ninja, and nothing else.
#
#   tests/gpu-check.sh --quick   3 minutes: built for the GPU that is here; every profile and setting against the CPU,
#                                copy bandwidth, one timing
#   tests/gpu-check.sh           8 minutes: every case of the stream tests, compute-sanitizer on small pictures, and the
#                                benchmark
#
# Exit status 0 when all passed, 1 when something failed, 77 without a GPU. PNV_GPU_BUILD names the build folder.
set -u
cd "$(dirname "$0")/.." || exit 1
quick=
case "${1-}" in
--quick) quick=1 ;;
"") ;;
*)
    echo "usage: tests/gpu-check.sh [--quick]" >&2
    exit 2
    ;;
esac

if ! command -v nvidia-smi >/dev/null || ! gpus=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2>/dev/null) ||
    [ -z "$gpus" ]; then
    echo "skipped: nvidia-smi finds no GPU here"
    exit 77
fi
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
for tool in nvcc gcc meson ninja; do
    command -v $tool >/dev/null || {
        echo "$tool is missing" >&2
        exit 1
    }
done
echo "GPU: $gpus"
nvcc --version | tail -n 2
arch=$(echo "$gpus" | head -n 1 | sed 's/.*, *//; s/\.//')
out=${PNV_GPU_BUILD:-build-gpu}
failed=

# step NAME COMMAND...: its last lines are shown when it fails
step() {
    name=$1
    shift
    started=$(date +%s)
    if "$@" >"$out-step.log" 2>&1; then
        result=ok
    else
        result="FAILED ($?)"
        failed="$failed $name"
    fi
    printf '%-34s %s (%d s)\n' "$name" "$result" "$(($(date +%s) - started))"
    [ "$result" = ok ] || tail -n 30 "$out-step.log"
}

build() {
    { [ -f "$out/build.ninja" ] || meson setup "$out" -Dcuda=enabled -Dcuda-arch="$arch" -Dgst=disabled; } &&
        ninja -C "$out" tests/stream_cuda tests/stream_cuda_input tests/cuda_bitstream tests/cuda_pictures tests/cuda_rate tests/bench_cuda
}

step build build
[ -z "$failed" ] || exit 1
export PNV_TEST_SMALL=1
step "settings, frames in flight" "$out/tests/stream_cuda"
step "SD and HD, all profiles" "$out/tests/stream_cuda" full-size
if [ -n "$quick" ]; then
    step "input formats, one size" env PNV_TEST_TINY=1 "$out/tests/stream_cuda_input"
    export PNV_TEST_QUICK=1
    step "timing" "$out/tests/bench_cuda" 1920x1080
else
    step "input formats" "$out/tests/stream_cuda_input"
    step "bitstream" "$out/tests/cuda_bitstream"
    step "pictures" "$out/tests/cuda_pictures"
    step "rate control" "$out/tests/cuda_rate"
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck; do
            export PNV_TEST_TINY=1
            for name in stream_cuda stream_cuda_input; do
                step "$tool $name" timeout 120 compute-sanitizer --tool $tool --error-exitcode 9 "$out/tests/$name"
            done
            unset PNV_TEST_TINY
        done
    else
        echo "compute-sanitizer is not in this toolkit: memcheck and racecheck did not run"
    fi
    step "timing" "$out/tests/bench_cuda"
fi
echo
cat "$out-step.log"
[ -z "$failed" ] && echo "all passed" && exit 0
echo "failed:$failed"
exit 1
