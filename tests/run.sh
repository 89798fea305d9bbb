#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Installs what is missing, builds, runs all tests and prints the time of each suite. Ends with one line:
# N passed, N failed, N skipped. Exit status 0 when nothing failed. --full runs the longer matrices as well.
#
# Builds: release (gcc, and nvcc where there is one), AddressSanitizer + UBSan with CUDA on the emulated runtime,
# ThreadSanitizer (what loads no GLib), clang without CUDA but with libFuzzer and an emulated AVX-512, release with CUDA
# on the emulated runtime, and aarch64 under an emulator.
set -u
cd "$(dirname "$0")/.." || exit 1
. tests/packages.sh

patience=1
case "${1-}" in
--full)
    export PNV_TEST_FULL=1
    patience=20
    ;;
"") ;;
*)
    echo "usage: tests/run.sh [--full]" >&2
    exit 2
    ;;
esac

# shellcheck disable=SC2086 # words on purpose
need_packages $build_packages g++ clang libclang-rt-dev ffmpeg valgrind mate-backgrounds \
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user libsimde-dev || exit 1

out=${PNV_TEST_BUILDS:-build-tests}
mkdir -p "$out"
failed_builds=0
logs=

step_start() {
    started=$(date +%s)
    printf '%-34s' "$1"
}

step_end() {
    printf '%s (%d s)\n' "$1" "$(($(date +%s) - started))"
}

# build NAME CC [meson option ...]: configure and compile into $out/NAME
build() {
    name=$1 compiler=$2
    shift 2
    step_start "build $name"
    if (
        set -e
        [ -f "$out/$name/build.ninja" ] || CC=$compiler meson setup "$out/$name" -Dwerror=true "$@"
        ninja -C "$out/$name"
    ) >"$out/$name.log" 2>&1; then
        step_end ok
        return 0
    fi
    step_end FAILED
    grep -nE 'error|warning|ERROR|FAILED' "$out/$name.log" | head -n 20
    echo "(whole log: $out/$name.log)"
    failed_builds=$((failed_builds + 1))
    return 1
}

# run NAME [meson test option ...]
run() {
    name=$1
    shift
    step_start "test $name"
    meson test -C "$out/$name" --no-rebuild --print-errorlogs "$@" >"$out/$name-test.log" 2>&1
    case $? in
    0) step_end ok ;;
    *)
        step_end FAILED
        sed -n '/FAIL\|TIMEOUT\|ERROR/,$p' "$out/$name-test.log" | head -n 80
        ;;
    esac
    logs="$logs $out/$name/meson-logs/testlog.json"
}

# With -O1 the tests would lose more than the compiler wins.
sanitize="-Dbuildtype=debugoptimized -Db_lundef=false"
# What need not go on after undefined behaviour compiles in two thirds of the time.
final=-fno-sanitize-recover=undefined

# Of the GPUs the oldest alone: what quickstart builds for the photos is for all of them.
build release gcc -Dbuildtype=release -Dcuda-arch=oldest && run release --timeout-multiplier $patience
export PNV_TEST_SMALL=1 # no matrices at full size in what follows
unset PNV_TEST_FULL
# The kernels and the pipeline on the emulated runtime need the headers of a CUDA toolkit, and no GPU.
emulated=disabled
[ ! -f "${CUDA_HOME:-/usr/local/cuda}/include/cuda_runtime.h" ] || emulated=host
# shellcheck disable=SC2086
build asan gcc $sanitize -Dcuda=$emulated -Db_sanitize=address,undefined -Dc_args=$final -Dcpp_args=$final &&
    run asan --no-suite slow-cuda --timeout-multiplier 6
# shellcheck disable=SC2086
build tsan gcc $sanitize -Dcuda=disabled -Db_sanitize=thread -Dgst=disabled && run tsan --timeout-multiplier 20 --no-suite slow --no-suite exact
# AVX-512 is emulated here: it costs seconds, while with sanitizers gcc alone would take many minutes over its sources.
build clang clang -Dcuda=disabled -Dfuzz=true -Davx512=emulated && run clang --no-suite slow --no-suite pipeline
if [ $emulated = host ]; then
    build cuda gcc -Dcuda=host -Dbuildtype=release && run cuda --suite cuda --timeout-multiplier 2
else
    echo "No CUDA toolkit in ${CUDA_HOME:-/usr/local/cuda}: the tests of the CUDA backend are skipped."
fi
build aarch64 gcc --cross-file tests/aarch64.ini -Dcuda=disabled -Dgst=disabled -Dinspect=disabled &&
    run aarch64 --timeout-multiplier 10 --suite unit --suite exact --no-suite slow

# shellcheck disable=SC2086
python3 - "$failed_builds" $logs <<'PYTHON'
import collections, json, sys

passed = skipped = 0
failed = int(sys.argv[1])  # a build that failed counts once
seconds = collections.Counter()
for log in sys.argv[2:]:
    build = log.split('/')[-3]
    for line in open(log):
        test = json.loads(line)
        suite = test['name'].split(':')[-1].split(' / ')[0].split('+')[0] if ' / ' in test['name'] else 'other'
        seconds[build, suite] += test['duration']
        if test['result'] == 'OK':
            passed += 1
        elif test['result'] == 'SKIP':
            skipped += 1
        else:
            failed += 1
            print('failed: %s in the %s build' % (test['name'], build))
print('\nSeconds of each suite:')
for (build, suite), time in sorted(seconds.items()):
    print('  %-10s %-12s %7.1f' % (build, suite, time))
print('\n%d passed, %d failed, %d skipped' % (passed, failed, skipped))
sys.exit(1 if failed or not passed else 0)
PYTHON
