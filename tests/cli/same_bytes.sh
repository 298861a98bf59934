#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The same scenario and seed give the same bytes: twice, from two builds, and with the keys of the file in another order.
# usage: sh same_bytes.sh PROGRAM PROGRAM          as build/release/... and build/debug/...
[ $# -eq 2 ] && [ -x "$2" ] || {
    echo "usage: sh $(basename "$0") PROGRAM PROGRAM" >&2
    exit 2
}
second=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
. "$(dirname "$0")/cases.sh"
first=$program

# Bytes of an answer, by one of the programs; a missed objective (exit 1) has an answer too.
answer() { # FILE PROGRAM WORDS...
    answer_file=$1 program=$2
    shift 2
    ask "$@"
    cp out "$answer_file"
    [ "$code" -le 1 ] && [ -s out ] || because "exit code $code: $(head -n 1 err)"
    program=$first
}

equal() { # FILE FILE
    cmp -s "$1" "$2" || because "different bytes: $(diff "$1" "$2" | sed -n '2p;/^>/p' | head -n 2 | cut -c 1-80 | paste -s -d ' ')"
}

two_builds() { # NAME WORDS...
    builds_name=$1
    shift
    answer one.out "$first" "$@"
    answer again.out "$first" "$@"
    equal one.out again.out
    verdict "$builds_name: twice from the first program"
    answer two.out "$second" "$@"
    equal one.out two.out
    verdict "$builds_name: the same from both programs"
}

builds() {
    for scenario in k3-8xb300-8k1k llama70b-4xh100 k3-8xmi355x; do
        two_builds "run $scenario" run $scenario --json
        two_builds "fit $scenario" fit $scenario --json
        two_builds "explain $scenario" explain $scenario --json
    done
    two_builds "run with a full cache" run llama70b-4xh100 --json --set engine.memory_fraction=0.463 \
        --set 'workload={"arrival": {"kind": "gamma", "rate": 8, "cv": 2}, "input_tokens": {"uniform": [100, 900]},
               "output_tokens": {"lognormal": {"mean": 100, "sigma": 1, "max": 400}}, "requests": 200}'
    two_builds "run with bursts" run llama70b-4xh100 --json \
        --set 'workload.arrival={"kind": "modulated", "rate": 4, "burst_factor": 4, "burst_share": 0.1, "burst_length": "5s"}'
    two_builds "run with a curve" run llama70b-4xh100 --json \
        --set 'workload.arrival={"kind": "daily", "rate": 4, "curve": [1, 4, 2], "period": "1min"}'
    two_builds "run with a jittered trace" run k3-chat-trace --json --set workload.arrival.jitter=1s
    two_builds "run with thinking clients" run k3-8xb300 --json --set workload.arrival.think_time=2s
    two_builds "run of agents" run k3-agentic-8xb300 --json
    two_builds "a load as a trace" trace k3-agentic --json
    two_builds "compare" compare k3-8xmi355x k3-16xb200 k3-8xb300 --json
}

# Requests, one by one, are the same bytes too.
requests() {
    program=$second
    ask run llama70b-4xh100 --requests second.csv
    program=$first
    ask run llama70b-4xh100 --requests first.csv
    [ -s first.csv ] || because "no requests"
    equal first.csv second.csv
    verdict "requests of llama70b-4xh100: the same from both programs"
}

reversed='def reversed: if type == "object" then to_entries | reverse | map({key: .key, value: (.value | reversed)}) | from_entries
          elif type == "array" then map(reversed) else . end; reversed'

key_order() { # SCENARIO
    "$first" show "$1" >file.json
    answer plain.out "$first" run file.json --json
    jq -S . file.json >sorted.json
    jq "$reversed" file.json >reversed.json
    cmp -s file.json reversed.json && because "the keys were not reversed"
    for order in sorted reversed; do
        mv file.json kept.json
        mv $order.json file.json
        answer shuffled.out "$first" run file.json --json
        mv kept.json file.json
        equal plain.out shuffled.out
        verdict "$1 with $order keys: the same bytes"
    done
}

# Objects inside, given in place of names, and keys of --set.
inner_order() {
    "$first" show b300 >sheet.json
    for order in . "$reversed"; do
        jq --slurpfile sheet sheet.json ".hardware.accelerator = (\$sheet[0] | $order)" file.json >whole.json
        answer "order$order_count.out" "$first" run whole.json --json
        order_count=x
    done
    equal order.out orderx.out
    verdict "an accelerator inside the file with reversed keys: the same bytes"
    answer one.out "$first" run k3-8xb300 --json --set 'parallel={"tp": 4, "dp": 2}'
    answer two.out "$first" run k3-8xb300 --json --set 'parallel={"dp": 2, "tp": 4}'
    equal one.out two.out
    verdict "an object of --set with keys in another order: the same bytes"
}

# A model whose keys stand in another order, its kinds of layers among them.
model_order() { # MODEL
    "$first" show "$1" >model.json
    jq "$reversed" model.json >turned.json
    for verb in fit explain; do
        answer plain.out "$first" $verb --model ./model.json --on 8xb300 --tp 8 --json
        answer turned.out "$first" $verb --model ./turned.json --on 8xb300 --tp 8 --json
        equal plain.out turned.out
        verdict "$verb of $1 with reversed keys: the same bytes"
    done
}

orders() {
    order_count=""
    for scenario in llama70b-4xh100 k3-8xmi355x k3-8xb300; do
        key_order $scenario
    done
    inner_order
    for model in kimi-k3 qwen3.5-397b-a17b deepseek-v3; do
        model_order $model
    done
}

fingerprint_of() { # WORDS...
    "$first" run "$@" --json 2>/dev/null | jq -r .fingerprint
}

differs() { # NAME WORDS...
    differs_name=$1
    shift
    now=$(fingerprint_of "$@")
    [ -n "$now" ] && [ "$now" != null ] || because "no fingerprint"
    [ "$now" != "$before" ] || because "the same fingerprint $now"
    verdict "$differs_name: another fingerprint"
}

fingerprints() {
    before=$(fingerprint_of llama70b-4xh100)
    differs "another seed" llama70b-4xh100 --seed 2
    differs "another seed by --set" llama70b-4xh100 --set seed=2
    differs "one more request" llama70b-4xh100 --set workload.requests=2001
    differs "another bandwidth" llama70b-4xh100 --set hardware.accelerator.memory_bandwidth=3TB/s
    [ "$(fingerprint_of llama70b-4xh100 --seed 1)" = "$before" ] || because "$before became another"
    verdict "the seed of the file, said again: the same fingerprint"
}

builds
requests
orders
fingerprints
finish
