#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Decode steps summed at once give what playing every step gives (--stepwise).
# usage: sh stepwise.sh PROGRAM
#
# Counts are equal; tokens are equal; shares agree within 1e-9.  Times agree within 1e-9 of themselves or half a
# nanosecond: the clock has whole picoseconds, and a long row of steps rounds once a step.
. "$(dirname "$0")/cases.sh"

# Names of what differs, one a line.
judged='
def close($x; $y): $x == $y or (($x - $y) | fabs) <= ([($x | fabs), ($y | fabs)] | max) * 1e-9;
def same_time($x; $y): close($x; $y) or ($x != null and $y != null and (($x - $y) | fabs) <= 5e-10);
def tokens: .throughput.output_tokens_per_s * .duration_s | round;
$a[0] as $a | $b[0] as $b
| (("completed", "queued", "running", "lost", "preemptions") as $key
   | select($a.requests[$key] != $b.requests[$key]) | "\($key): \($a.requests[$key]) and \($b.requests[$key])"),
  (select(same_time($a.duration_s; $b.duration_s) | not) | "duration: \($a.duration_s) and \($b.duration_s)"),
  (select(($a | tokens) != ($b | tokens)) | "output tokens: \($a | tokens) and \($b | tokens)"),
  (select($a.steps != $b.steps) | "steps: \($a.steps) and \($b.steps)"),
  (("ttft_s", "tpot_s", "e2e_s") as $metric | ("mean", "p50", "p90", "p95", "p99") as $part
   | select(same_time($a[$metric][$part]; $b[$metric][$part]) | not)
   | "\($metric) \($part): \($a[$metric][$part]) and \($b[$metric][$part])"),
  ((($a.breakdown + $b.breakdown) | keys[]) as $part
   | select((($a.breakdown[$part] // 0) - ($b.breakdown[$part] // 0) | fabs) > 1e-9)
   | "share of \($part): \($a.breakdown[$part]) and \($b.breakdown[$part])")'

play() { # FILE WORDS...
    play_file=$1
    shift
    ask run "$@" --json
    cp out "$play_file"
    [ "$code" -le 1 ] && holds out .fits || because "exit code $code: $(head -n 1 err)"
}

compared() { # NAME
    [ -n "$why" ] || jq -r -n --slurpfile a stretches.json --slurpfile b steps.json "$judged" >different 2>&1 || because "jq failed"
    [ -n "$why" ] || [ ! -s different ] || because "$(head -n 4 different | paste -s -d ';')"
    verdict "$1"
}

same() { # NAME WORDS...
    same_name=$1
    shift
    play stretches.json "$@"
    play steps.json "$@" --stepwise
    compared "$same_name"
}

# The case is what it is called: a condition on the answer of the run before.
was() { # NAME EXPRESSION
    holds stretches.json "$2" || because "not so: $2"
    verdict "$1"
}

# A load of N requests: arrivals, prompts and answers as JSON.
load() { # ARRIVAL INPUT OUTPUT N
    echo "workload={\"arrival\": $1, \"input_tokens\": $2, \"output_tokens\": $3, \"requests\": $4}"
}

poisson='{"kind": "poisson", "rate": 3}'
gamma='{"kind": "gamma", "rate": 8, "cv": 2.5}'
constant='{"kind": "constant", "rate": 4}'
bursts='{"kind": "modulated", "rate": 4, "burst_factor": 5, "burst_share": 0.15, "burst_length": "6s"}'
day='{"kind": "daily", "rate": 4, "curve": [1, 0, 6, 3], "period": "40s"}'
closed='{"kind": "closed", "clients": 30}'
thinking='{"kind": "closed", "clients": 60, "think_time": "2s"}'
long_prompts='{"lognormal": {"mean": 600, "sigma": 0.9, "max": 4096}}'
long_answers='{"lognormal": {"mean": 200, "sigma": 0.8, "max": 2048}}'

scenarios() {
    for scenario in k3-8xb300 k3-8xb300-8k1k k3-8xmi355x k3-16xb200 llama70b-4xh100; do
        same "$scenario" $scenario
    done
    same "k3-nvl72, nine replicas" k3-nvl72 --set workload.requests=600
}

arrivals() {
    for policy in decode-first prefill-first; do
        for kind in poisson gamma constant bursts day closed thinking; do
            eval "arrival=\$$kind"
            same "$kind, $policy" llama70b-4xh100 --set engine.policy=$policy --set "$(load "$arrival" "$long_prompts" "$long_answers" 300)"
        done
    done
    same "one client" k3-8xb300 --set workload.arrival.clients=1 --set workload.requests=20
    same "overload" llama70b-4xh100 --set workload.arrival.rate=50 --set workload.requests=500
}

# The cache holds few tokens: requests are preempted and computed again.
tiny_cache() {
    short_prompts='{"lognormal": {"mean": 300, "sigma": 0.8, "max": 1024}}'
    short_answers='{"uniform": [20, 400]}'
    for policy in decode-first prefill-first; do
        for block in 1 16 64; do
            same "tiny cache, blocks of $block, $policy" llama70b-4xh100 --set engine.memory_fraction=0.461 \
                --set engine.policy=$policy --set engine.kv_block_tokens=$block \
                --set "$(load "$thinking" "$short_prompts" "$short_answers" 200)"
            was "tiny cache, blocks of $block, $policy: requests are preempted" '.requests.preemptions > 0'
        done
    done
    same "tiny cache with state, K3" k3-8xb300 --set engine.memory_fraction=0.7275 --set workload.requests=100
    was "tiny cache with state, K3: requests are preempted or wait" '.requests.preemptions > 0 or .queue_s.p99 > 1'
    same "tiny cache, four replicas" --model llama-3.1-8b --on 4xh100-sxm --set parallel.replicas=4 \
        --set engine.memory_fraction=0.26 --set "$(load "$gamma" "$short_prompts" "$short_answers" 300)"
}

# Sessions come back to prefixes that are kept, evicted, brought back from a tier below.
sessions() {
    for kind in '{"kind": "closed", "clients": 14}' '{"kind": "poisson", "rate": 0.6}'; do
        for room in 60000 200000; do
            for host in 0GB 100GB; do
                same "sessions, $kind, $room tokens, host $host" llama70b-4xh100 --set engine.prefix_cache=true \
                    --set engine.kv_tokens=$room --set engine.host_cache=$host --set workload='{"arrival": '"$kind"',
                    "sessions": {"turns": {"uniform": [1, 8]}, "system_tokens": 900, "context_tokens": 4000, "pause": "2s"},
                    "input_tokens": {"uniform": [50, 900]}, "output_tokens": {"uniform": [20, 400]}, "requests": 200}'
                was "sessions, $kind, $room tokens, host $host: prefixes are found" '.prefix_cache.hit_rate > 0.05'
            done
        done
    done
    same "sessions of K3" k3-8xb300 --set engine.prefix_cache=true --set engine.kv_tokens=900000 --set workload='{
        "arrival": {"kind": "closed", "clients": 12}, "sessions": {"turns": 8, "context_tokens": 60000, "pause": "4s"},
        "input_tokens": {"uniform": [500, 3000]}, "output_tokens": {"uniform": [100, 600]}, "requests": 150}'
}

# Drafts: steps bring several tokens, of which blocks and windows see whole ones.
drafts() {
    for acceptance in '"coding"' 2.7; do
        same "drafts, acceptance $acceptance" k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 5, "acceptance": '"$acceptance"'}'
    done
    same "drafts in a tiny cache" k3-8xb300 --set engine.kv_tokens=400000 --set engine.kv_block_tokens=16 --set workload.requests=100 \
        --set 'speculation={"draft": "k3-dspark", "tokens": 7, "acceptance": "chat"}'
}

# Prompts in one pool, answers in another, with room and without.
handovers() {
    for room in 100000 2000000; do
        for rate in 0.4 3; do
            same "prefill and decode apart, $room tokens, $rate a second" --model kimi-k3 --set pools='[
                {"role": "prefill", "hardware": {"accelerator": "b300", "count": 8, "fabric": "b300-roce-400", "stack": "sglang-b300"}, "parallel": {"tp": 8}},
                {"role": "decode", "hardware": {"accelerator": "b300", "count": 16, "fabric": "b300-roce-400", "stack": "sglang-b300"},
                 "parallel": {"tp": 8, "replicas": 2}, "engine": {"kv_tokens": '$room'}}]' \
                --set workload='{"arrival": {"kind": "poisson", "rate": '$rate'}, "input_tokens": {"uniform": [500, 9000]},
                "output_tokens": {"uniform": [20, 700]}, "requests": 200}'
        done
    done
}

blocks() {
    for block in 1 64; do
        same "blocks of $block" llama70b-4xh100 --set engine.kv_block_tokens=$block --set workload.requests=500
    done
}

# Sliding windows and sparse attention bend the cost of a step where a context grows past them.
models() {
    for arrival in "$poisson" "$closed"; do
        kind=$(echo "$arrival" | jq -r .kind)
        same "window of gpt-oss-120b, $kind" --model gpt-oss-120b --on 8xh100-sxm --tp 8 \
            --set "$(load "$arrival" '{"uniform": [20, 400]}' "$long_answers" 150)"
        same "indexer of glm-5, $kind" --model glm-5 --on 8xb200 --tp 8 --weights fp8 \
            --set "$(load "$arrival" '{"uniform": [1000, 3000]}' "$long_answers" 150)"
        same "latent attention of deepseek-v3, DP 8, $kind" --model deepseek-v3 --on 8xb200 --tp 1 --dp 8 --ep 8 \
            --set "$(load "$arrival" "$long_prompts" "$long_answers" 150)"
        same "delta layers of qwen3.5, $kind" --model qwen3.5-397b-a17b --on 8xb200 --tp 8 \
            --set "$(load "$arrival" "$long_prompts" "$long_answers" 150)"
        same "decode context parallel, $kind" --model kimi-k2.5 --on 8xb200 --tp 8 --dcp 4 \
            --set "$(load "$arrival" "$long_prompts" "$long_answers" 150)"
    done
}

limits() {
    same "answers of one token" k3-8xb300 --set workload.output_tokens=1
    same "answers of two tokens" k3-8xb300 --set workload.output_tokens=2
    same "prompts of one token" k3-8xb300 --set workload.input_tokens=1 --set workload.requests=100
    same "two running requests" llama70b-4xh100 --set engine.max_running=2 --set workload.requests=200
    same "a budget of 64 tokens a step" llama70b-4xh100 --set engine.max_batched_tokens=64 --set workload.requests=200
    same "lost requests" llama70b-4xh100 --set engine.max_context=1500 --set workload.requests=300
    was "lost requests: some are" '.requests.lost > 0'
}

# The engine looks at what came only at times, or lets prompts wait for more of them.
intake() {
    for policy in decode-first prefill-first; do
        for kind in poisson closed thinking; do
            eval "arrival=\$$kind"
            same "a look every 30 steps, $kind, $policy" llama70b-4xh100 --set engine.policy=$policy \
                --set engine.receive_interval=30 --set "$(load "$arrival" "$long_prompts" "$long_answers" 300)"
            same "prompts wait for others, $kind, $policy" llama70b-4xh100 --set engine.policy=$policy \
                --set engine.batch_wait_steps=20 --set engine.batch_wait_share=0.3 \
                --set "$(load "$arrival" "$long_prompts" "$long_answers" 300)"
            same "both, $kind, $policy" llama70b-4xh100 --set engine.policy=$policy \
                --set engine.receive_interval=7 --set engine.batch_wait_steps=5 \
                --set "$(load "$arrival" "$long_prompts" "$long_answers" 300)"
        done
    done
}

# The run's end cuts a stretch off.
cuts() {
    for end in 100s 33.3s 1s; do
        same "cut after $end" llama70b-4xh100 --set workload.duration=$end
    done
    was "cut after 1s: requests are left" '.requests.queued + .requests.running > 0'
    same "closed loop, cut" k3-8xb300 --set workload.duration=50s
    same "closed loop without a number of requests, cut" k3-8xb300 --set workload.requests=null --set workload.duration=50s
    same "tiny cache, cut" llama70b-4xh100 --set engine.memory_fraction=0.461 --set workload.duration=20s \
        --set "$(load "$thinking" '{"uniform": [20, 400]}' '{"uniform": [20, 400]}' 500)"
}

traces() {
    printf 'arrival_s,input_tokens,output_tokens\n0,900,300\n0.1,50,400\n0.1,50,400\n2.5,3000,20\n2.50001,10,1\n9,800,700\n' >trace.csv
    same "trace" llama70b-4xh100 --set 'workload={"arrival": {"kind": "trace", "file": "trace.csv"}}'
    same "trace, played 20 times as fast" llama70b-4xh100 --set 'workload={"arrival": {"kind": "trace", "file": "trace.csv", "scale": 20}}'
}

scenarios
arrivals
tiny_cache
sessions
drafts
handovers
blocks
models
limits
intake
cuts
traces
finish
