#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Real runs, replayed with their arrivals and lengths, against what was recorded request by request.
# usage: sh replay.sh PROGRAM            RACKCAST_SHARED: a folder with measurements/vllm_runs; skipped where it is absent
. "$(dirname "$0")/cases.sh"

shared=${RACKCAST_SHARED:+$(cd "$OLDPWD" && cd "$RACKCAST_SHARED" 2>/dev/null && pwd)}

# Means of a recorded run: seconds from the first arrival to the last token, TTFT, TPOT.
recorded() { # FILE.jsonl
    jq -s '(map(.queued_ts) | min) as $start | {
        duration_s: ((map(.last_token_ts) | max) - $start),
        ttft_s: (map(.first_token_ts - .queued_ts) | add / length),
        tpot_s: (map(select(.output_toks > 1) | (.last_token_ts - .first_token_ts) / (.output_toks - 1)) | add / length)}' "$1"
}

arrivals() { # FILE.jsonl
    echo arrival_s,input_tokens,output_tokens
    jq -s -r 'sort_by(.arrival_time) | .[0].arrival_time as $start
        | .[] | [.arrival_time - $start, .input_toks, .output_toks] | @csv' "$1"
}

near() { # WHAT SHARE
    jq -n -e --slurpfile is is.json --slurpfile was was.json "(\$is[0].$1 / \$was[0].$1 - 1) | . * . <= $2 * $2" >/dev/null ||
        because "$1 is $(jq ".$1" is.json), recorded $(jq ".$1" was.json), more than $2 apart"
}

# Room for tokens as the run's log has it, in blocks of 16, where it does.  Overloaded: an error in throughput shows several times as large in TTFT, hence its wider limit.
replays() { # FOLDER ACCELERATOR MOST_RUNNING [KV_TOKENS]
    run=$shared/measurements/vllm_runs/$1
    if [ -z "$shared" ] || [ ! -f "$run/requests.jsonl" ]; then
        skips "replay of $1" "no recorded run"
        return
    fi
    recorded "$run/requests.jsonl" >was.json
    arrivals "$run/requests.jsonl" >trace.csv
    "$program" run --model llama-3.1-8b --on "1x$2" --set 'workload={"arrival":{"kind":"trace","file":"trace.csv"}}' \
        --set "engine.max_running=$3" --set engine.max_batched_tokens=2048 ${4:+--set "engine.kv_tokens=$4"} --json >out.json || because "exit code $?"
    jq '{duration_s, ttft_s: .ttft_s.mean, tpot_s: .tpot_s.mean}' out.json >is.json
    near duration_s 0.05
    near tpot_s 0.08
    near ttft_s 0.15
    verdict "replay of $1"
}

replays RTX4090_Llama-3.1-8B rtx-4090 256 $((2588 * 16))
replays RTXPRO6000_Llama-3.1-8B rtx-pro-6000-server 128
finish
