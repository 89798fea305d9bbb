#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The public header compiles alone in C11 and C++17, and nothing but the public pnv_ functions leaves the library.
# unit_header.sh HEADER LIBRARY CC
set -eu
header=$1 library=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

printf '#include "%s"\nint main(void) { return (int)sizeof(PnvParams) == 0; }\n' "$header" >"$folder/alone.c"
cp "$folder/alone.c" "$folder/alone.cpp"
$cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$folder/alone.c"
if echo 'int main() { return 0; }' | $cc -x c++ -std=c++17 -fsyntax-only - 2>/dev/null; then
    $cc -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$folder/alone.cpp"
else
    echo "no C++ compiler beside $cc"
    exit 77
fi

grep -oE 'pnv_[a-z_]+\(' "$header" | tr -d '(' | sort -u >"$folder/declared"
nm -D --defined-only "$library" | awk '{print $3}' | sort -u >"$folder/exported"
grep -v '^pnv_' "$folder/exported" | grep -vE '^(__asan|__ubsan|__tsan|__odr_asan|_init$|_fini$)' >"$folder/foreign" || true
if [ -s "$folder/foreign" ]; then
    echo "symbols without the prefix leave $library:"
    cat "$folder/foreign"
    exit 1
fi
if ! grep '^pnv_' "$folder/exported" | diff "$folder/declared" - >"$folder/difference"; then
    echo "declared in the header (<) but not exported, or exported (>) but not declared:"
    cat "$folder/difference"
    exit 1
fi
echo "$(wc -l <"$folder/exported") functions exported and declared"
