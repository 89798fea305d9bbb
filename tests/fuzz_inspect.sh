#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs libFuzzer on the strict reader from the files that fuzz_driver.c knows.
# usage: fuzz_inspect.sh LIBFUZZER_INSPECT FUZZ_INSPECT SECONDS
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/corpus" "$folder/seeds"
"$2" --seeds "$folder/seeds"
# A finding is written to the current folder, for fuzz_inspect to replay.
"$1" -max_total_time="$3" -max_len=8192 -timeout=10 -rss_limit_mb=1500 -print_final_stats=1 "$folder/corpus" "$folder/seeds"
