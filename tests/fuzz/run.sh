#!/usr/bin/env bash
# Fuzzes the native core under AddressSanitizer and UndefinedBehaviorSanitizer: the planner, and
# the solver of rounds.
#   run.sh replay        the corpora, 200,000 random operations, and a canary that must crash (CI)
#   run.sh campaign N    N random operations over ten seeds, then libFuzzer where clang is there
# Each seed shows how often every outcome came up, and fails where it is less than replay.c demands.
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=${1:-replay}
operations=${2:-10000000}
build=build/fuzz
mkdir -p "$build"
flags=(-O1 -g -std=c11 -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all -Icsrc)
declare -A sources=([planner]="tests/fuzz/planner_fuzz.c $(echo tests/fuzz/fuzz_*.c)"
    [rounds]="$(echo tests/fuzz/rounds_*.c)")
declare -A canaries=([planner]=OWNER_KEPT [rounds]=LOST_MORE)
clang=$(command -v clang || command -v clang-14 || true)

# A fault that the target must find.
canary() {
    local target=$1 log=$build/$1-canary.log
    # shellcheck disable=SC2086 # several sources
    gcc "${flags[@]}" "-DPHX_MUTANT_${canaries[$target]}" csrc/*.c ${sources[$target]} \
        tests/fuzz/replay.c -lm -o "$build/$target-canary"
    if "$build/$target-canary" --random 200000 1 >"$log" 2>&1; then
        echo "fuzz: the canary of $target survived: it would miss a real fault" >&2
        exit 1
    fi
    echo "fuzz: the canary of $target died ($(grep -m1 '^fuzz:' "$log" || echo 'sanitizer report'))"
}

campaign() {
    local target=$1 seed seeds=10
    for seed in $(seq 1 "$seeds"); do
        "$build/$target" --random $((operations / seeds)) "$seed"
    done
    if [ -z "$clang" ]; then
        echo "fuzz: no clang here, libFuzzer left out"
        return
    fi
    # shellcheck disable=SC2086 # several sources
    "$clang" "${flags[@]}" -fsanitize=fuzzer,address,undefined csrc/*.c ${sources[$target]} -lm \
        -o "$build/$target-libfuzzer"
    mkdir -p "$build/found/$target"
    "$build/$target-libfuzzer" -max_total_time="${FUZZ_SECONDS:-60}" -max_len=1024 \
        -print_final_stats=1 -artifact_prefix="$build/$target-" "$build/found/$target" \
        "tests/fuzz/corpus/$target" 2>&1 | tail -n 12
}

for target in planner rounds; do
    # shellcheck disable=SC2086 # several sources
    gcc "${flags[@]}" csrc/*.c ${sources[$target]} tests/fuzz/replay.c -lm -o "$build/$target"
    canary "$target"
    case "$mode" in
    replay)
        "$build/$target" tests/fuzz/corpus/"$target"/*
        echo "fuzz: $(ls tests/fuzz/corpus/"$target" | wc -l) corpus files of $target replayed"
        "$build/$target" --random 200000 "${SEED:-1}"
        ;;
    campaign)
        campaign "$target"
        ;;
    *)
        echo "usage: run.sh [replay | campaign N]" >&2
        exit 2
        ;;
    esac
done
