#!/usr/bin/env bash
# Fuzzes the native core under AddressSanitizer and UndefinedBehaviorSanitizer.
#   run.sh replay        the corpus, 200,000 random operations, and a canary that must crash (CI)
#   run.sh campaign N    N random operations over ten seeds, then libFuzzer where clang is there
# Each seed shows how often every outcome came up, and fails where it is less than replay.c demands.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-replay}
operations=${2:-10000000}
build=build/fuzz
mkdir -p "$build"
flags=(-O1 -g -std=c11 -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -Icsrc)
gcc "${flags[@]}" csrc/*.c tests/fuzz/*.c -o "$build/replay"
gcc "${flags[@]}" -DPHX_MUTANT_OWNER_KEPT csrc/*.c tests/fuzz/*.c -o "$build/canary"

if "$build/canary" --random 200000 1 >"$build/canary.log" 2>&1; then
    echo "fuzz: the canary survived: the target would miss a real fault" >&2
    exit 1
fi
echo "fuzz: the canary died ($(grep -m1 '^fuzz:' "$build/canary.log" || echo 'sanitizer report'))"

clang=$(command -v clang || command -v clang-14 || true)
case "$mode" in
replay)
    "$build/replay" tests/fuzz/corpus/*
    echo "fuzz: $(ls tests/fuzz/corpus | wc -l) corpus files replayed"
    "$build/replay" --random 200000 "${SEED:-1}"
    ;;
campaign)
    seeds=10
    for seed in $(seq 1 "$seeds"); do
        "$build/replay" --random $((operations / seeds)) "$seed"
    done
    if [ -n "$clang" ]; then
        "$clang" "${flags[@]}" -fsanitize=fuzzer,address,undefined csrc/*.c \
            tests/fuzz/planner_fuzz.c tests/fuzz/fuzz_*.c -o "$build/libfuzzer"
        mkdir -p "$build/found"
        "$build/libfuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=1024 -print_final_stats=1 \
            -artifact_prefix="$build/" \
            "$build/found" tests/fuzz/corpus 2>&1 | tail -n 12
    else
        echo "fuzz: no clang here, libFuzzer left out"
    fi
    ;;
*)
    echo "usage: run.sh [replay | campaign N]" >&2
    exit 2
    ;;
esac
