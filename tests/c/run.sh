#!/usr/bin/env bash
# Compiles and runs the C unit tests and the C example under AddressSanitizer and
# UndefinedBehaviorSanitizer.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=build/c
rm -rf "$build"
mkdir -p "$build"
flags=(-O1 -g -std=c11 -Wall -Wextra -Wpedantic -Wshadow -Icsrc)
flags+=(-fsanitize=address,undefined -fno-sanitize-recover=all)
if [ -n "${PHALANX_MUTANT:-}" ]; then
    flags+=("-DPHX_MUTANT_${PHALANX_MUTANT}")
fi
objects=()
for source in csrc/*.c; do
    objects+=("$build/$(basename "$source" .c).o")
    gcc "${flags[@]}" -c "$source" -o "${objects[-1]}"
done
passed=0
for source in tests/c/test_*.c; do
    program=$build/$(basename "$source" .c)
    wraps=()
    if grep -q __wrap_malloc "$source"; then
        wraps=(-Wl,--wrap=malloc,--wrap=calloc)
    fi
    if grep -q __wrap_realloc "$source"; then
        wraps+=(-Wl,--wrap=realloc)
    fi
    gcc "${flags[@]}" "${objects[@]}" "$source" "${wraps[@]}" -o "$program" -lm
    "$program"
    passed=$((passed + 1))
done
gcc "${flags[@]}" "${objects[@]}" examples/embed.c -o "$build/example" -lm
"$build/example" | diff -u tests/golden/c/embed.txt - && echo "example: output as expected"
echo "C tests: $passed passed, 0 failed"
