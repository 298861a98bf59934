#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What scripts and notebooks rely on: keys of the answers, exit codes, names, settings, and examples that work.
# usage: sh contract.sh PROGRAM          RACKCAST_SHARED: a folder with models/*.config.json, for `import`
. "$(dirname "$0")/cases.sh"
shared=${RACKCAST_SHARED:+$(cd "$OLDPWD" && cd "$RACKCAST_SHARED" 2>/dev/null && pwd)}

# ---------------------------------------------------------------------------------------------------------------- keys

fit_keys="fits:boolean reasons:array smallest_count:number weights_bytes_per_gpu:number weights:object
parameters_total:number parameters_active:number checkpoint_bytes:number scale_bytes:number
kv_bytes_per_token_per_gpu:number state_bytes_per_request_per_gpu:number room_bytes_per_gpu:number
kv_capacity_tokens:number max_requests:number max_context:number"

percentiles() { # KEY
    for percentile in mean p50 p90 p95 p99; do echo "$1.$percentile:number"; done
}

rates() { # PREFIX
    for rate in output input total; do echo "$1.${rate}_tokens_per_s:number"; done
}

run_keys="fits:boolean requests.completed:number requests.queued:number requests.running:number requests.lost:number
duration_s:number $(rates throughput) $(rates throughput.per_gpu)
$(percentiles ttft_s) $(percentiles tpot_s) $(percentiles itl_s) $(percentiles e2e_s)
interactivity_tokens_per_s:number cost.usd_per_hour:number cost.usd_per_million_output:number
cost.usd_per_million_total:number cost.output_tokens_per_s_per_usd_hour:number breakdown:object
ceiling.output_tokens_per_s:number ceiling.tpot_s:number interval:object goodput_per_s:number
prefix_cache.hit_rate:number stationary:boolean events:number fingerprint:string"

explain_keys="step_s:number ceiling_s:number parts:array"
part_keys="family:string seconds:number bytes:number flops:number bound:string provenance:string"

has_keys() { # NAME FILE KEYS
    for key in $3; do
        path=${key%:*} type=${key#*:}
        echo "$path $type"
    done | jq -r -R -s --slurpfile answer "$2" 'split("\n")[] | select(. != "") | split(" ") as [$path, $type]
        | ($answer[0] | getpath($path | split(".")) | type) as $found
        | select($found != $type) | "\($path) is \($found), not \($type)"' >wrong 2>&1
    [ -s wrong ] && because "$(paste -s -d ';' wrong)"
    verdict "$1 has every key of the contract"
}

judges() { # NAME FILE EXPRESSION: true for the whole answer
    holds "$2" "$3" || because "not so: $3"
    verdict "$1"
}

fit_answer() { # SCENARIO
    keep fit.json fit "$1" --json || because "exit code $code"
    has_keys "fit $1" fit.json "$fit_keys"
    judges "fit $1: fits, without reasons" fit.json '.fits and .reasons == [] and .smallest_count > 0'
    judges "fit $1: bytes and counts are above 0" fit.json '
        [.weights_bytes_per_gpu, .parameters_total, .parameters_active, .checkpoint_bytes, .kv_bytes_per_token_per_gpu,
         .room_bytes_per_gpu, .kv_capacity_tokens, .max_requests, .max_context] | all(. > 0)'
    judges "fit $1: groups of weights add up to the checkpoint" fit.json '([.weights[]] | add) == .checkpoint_bytes'
    judges "fit $1: active parameters are some of all" fit.json '.parameters_active <= .parameters_total'
    judges "fit $1: whole numbers where they count" fit.json '
        [.smallest_count, .kv_capacity_tokens, .max_requests, .max_context, .parameters_total] | all(. == floor)'
}

run_answer() { # SCENARIO
    ask run "$1" --json
    cp out run.json
    [ "$code" -le 1 ] || because "exit code $code"
    has_keys "run $1" run.json "$run_keys"
    judges "run $1: percentiles are in order" run.json '
        [.ttft_s, .tpot_s, .itl_s, .e2e_s] | all(.p50 <= .p90 and .p90 <= .p95 and .p95 <= .p99 and .p50 > 0)'
    judges "run $1: total is input and output" run.json '
        .throughput | ((.input_tokens_per_s + .output_tokens_per_s) / .total_tokens_per_s - 1 | fabs) < 1e-12'
    judges "run $1: a GPU's share is the rack's over the GPUs" run.json '
        .gpus as $n | .throughput | (.per_gpu.output_tokens_per_s * $n / .output_tokens_per_s - 1 | fabs) < 1e-12'
    judges "run $1: shares of the breakdown add up to 1" run.json '([.breakdown[]] | add - 1 | fabs) < 1e-9'
    judges "run $1: no share is negative" run.json '.breakdown | all(. >= 0)'
    judges "run $1: each interval is a pair around the forecast" run.json '
        [[.interval.output_tokens_per_s, .throughput.output_tokens_per_s], [.interval.ttft_s, .ttft_s.mean],
         [.interval.tpot_s, .tpot_s.mean], [.interval.e2e_s, .e2e_s.mean]]
        | all((.[0] | length) == 2 and .[0][0] < .[1] and .[1] < .[0][1])'
    judges "run $1: no faster than the ceiling" run.json '.ceiling.tpot_s < .tpot_s.mean'
    judges "run $1: interactivity is one over TPOT" run.json '(.interactivity_tokens_per_s * .tpot_s.mean - 1 | fabs) < 1e-9'
    judges "run $1: money is price over speed" run.json '
        (.cost.usd_per_hour / 3600 / .throughput.output_tokens_per_s * 1e6 / .cost.usd_per_million_output - 1 | fabs) < 1e-9'
    judges "run $1: fingerprint is 16 hexadecimal digits" run.json '.fingerprint | test("^[0-9a-f]{16}$")'
    judges "run $1: no wall-clock time unless asked for" run.json 'has("wall_s") | not'
    ask run "$1" --json --timing
    judges "run $1: wall-clock time with --timing" out '.wall_s > 0'
}

explain_answer() { # SCENARIO
    keep explain.json explain "$1" --json || because "exit code $code"
    has_keys "explain $1" explain.json "$explain_keys"
    jq '.parts[0]' explain.json >part.json
    has_keys "explain $1: a part" part.json "$part_keys"
    judges "explain $1: parts add up to the step" explain.json '(([.parts[].seconds] | add) / .step_s - 1 | fabs) < 1e-9'
    judges "explain $1: the ceiling is below the step" explain.json '.ceiling_s > 0 and .ceiling_s < .step_s'
    judges "explain $1: every part has a known provenance" explain.json '
        [.parts[].provenance] | all(. == "measured" or . == "fitted" or . == "transferred" or . == "assumed")'
    judges "explain $1: no part is negative" explain.json '[.parts[] | .seconds, .bytes, .flops] | all(. >= 0)'
}

answers() {
    for scenario in k3-8xb300 llama70b-4xh100; do
        fit_answer $scenario
        run_answer $scenario
        explain_answer $scenario
    done
}

# ---------------------------------------------------------------------------------------------------------- exit codes

exit_codes() {
    check "exit 0: run" exits 0 run k3-8xb300
    check "exit 0: fit" exits 0 fit k3-8xb300
    check "exit 0: explain" exits 0 explain k3-8xb300
    check "exit 0: compare" exits 0 compare k3-8xb300 k3-16xb200
    check "exit 0: an objective that is met" exits 0 run k3-8xb300 --set 'objectives=["ttft:1h"]'
    check "exit 1: an objective that is missed" exits 1 run k3-8xb300 --json --set 'objectives=["ttft:1ms:p99"]'
    judges "an objective that is missed: the whole answer is there" out '.fits and (.objectives[0].met | not) and .goodput_per_s == 0'
    many='"e2e:1h", "ttft:1h", "tpot:1h", "itl:1h"'
    ask run k3-8xb300 --json --set "objectives=[$many, $many, $many, $many, $many, \"ttft:1ms\"]"
    [ "$code" -eq 3 ] || holds out '.objectives | length == 21 and (.[20].met | not)' || because "some are dropped"
    verdict "each of many objectives is judged, or all are refused"
    check "exit 2: no verb" exits 2
    check "exit 2: unknown verb" exits 2 nosuch
    check "exit 2: unknown option" exits 2 run k3-8xb300 --nosuch
    check "exit 3: bad input" exits 3 run k3-8xb300 --tp 7
    check "exit 4: does not fit" exits 4 run k3-16xb200 --set hardware.count=8 --tp 8
    check "exit 4: does not divide" exits 4 fit --model kimi-k3 --on 6xb300 --tp 6
    check "exit 5: cannot write" exits 5 run k3-8xb300 --requests nosuch/requests.csv
}

# Of 8 B200 only; K3 needs 16.
refusals() {
    small="k3-16xb200 --set hardware.count=8 --tp 8 --json"
    for verb in fit run explain; do
        ask $verb $small
        [ "$code" -eq 4 ] || because "exit code $code, not 4"
        verdict "$verb of what does not fit: exit 4"
        judges "$verb of what does not fit: the ordinary object" out '.fits == false and (.reasons | length) > 0 and (has("error") | not)'
        judges "$verb of what does not fit: both numbers in the reason" out '.reasons[0] | test("[0-9]+ GB.*[0-9]+ GB")'
        judges "$verb of what does not fit: the smallest count" out '.smallest_count == 16'
        ask $verb --model kimi-k3 --on 6xb300 --tp 6 --json --set workload=k3-1k400
        judges "$verb of what does not divide: each reason" out '
            .fits == false and .smallest_count == 8 and (.reasons | any(test("163,840")) and any(test("896")))'
    done
    ask fit --model kimi-k3 --on 8xgb200 --tp 8 --json
    judges "K3 on 8 GB200 is refused, 16 named" out '.fits == false and .smallest_count == 16'
    ask fit --model kimi-k3 --on 8xmi300x --tp 8 --json
    judges "K3 on 8 MI300X is refused" out '.fits == false and .smallest_count > 8'
    ask fit --model kimi-k3 --on 4xb300 --tp 4 --json
    judges "K3 on 4 B300 is refused, 8 named" out '.fits == false and .smallest_count == 8'
    check "the count that was named fits" exits 0 fit --model kimi-k3 --on 16xgb200 --tp 16
}

# --------------------------------------------------------------------------------------------------------------- names

accelerators="h100-sxm h200-sxm h800-sxm h20 b200 b300 gb200 gb300 mi300x mi325x mi350x mi355x a100-40 a100-80 a10 rtx-4090
rtx-5090 rtx-pro-6000 dgx-spark ryzen-ai-max-395 m3-ultra tpu-v5e"
models="kimi-k3 kimi-k2.5 kimi-k2.6 deepseek-r1 deepseek-v3 llama-3.1-8b llama-3.1-70b llama-2-13b qwen3-32b qwen3-30b-a3b
qwen3-235b-a22b qwen3.5-397b-a17b gpt-oss-120b glm-5 minimax-m2.5 mixtral-8x7b"
scenarios="k3-8xmi355x k3-16xb200 k3-8xb300 k3-8xb300-8k1k k3-8xmi350x-8k1k k3-nvl72 llama70b-4xh100"
nvidia_nodes="h100-sxm h200-sxm h800-sxm h20 b200 b300"
amd_nodes="mi300x mi325x mi350x mi355x"

joined() { # ENDINGS NAMES: every name with every ending
    for joined_name in $2; do
        for ending in $1; do echo "$joined_name-$ending"; done
    done
}

fabrics="$(joined "nvlink roce-195 roce-400 roce-800 ib-400" "$nvidia_nodes")
$(joined "mesh roce-195 roce-400 roce-800 ib-400" "$amd_nodes")
$(joined nvl72 "gb200 gb300") $(joined nvlink "a100-40 a100-80")"

engines() { # ENGINES ACCELERATORS
    for accelerator in $2; do
        for engine in $1; do echo "$engine-$accelerator"; done
    done
}

stacks="$(engines vllm "$accelerators") $(engines sglang "$nvidia_nodes $amd_nodes gb200 gb300")
$(engines trtllm "$nvidia_nodes gb200 gb300")"

# One jq for all names of a kind.
names_exist() { # KIND NAMES
    missing=$(echo $2 | tr ' ' '\n' | jq -r -R -s --arg kind "$1" --slurpfile list list.json '
        split("\n") - [""] - [$list[0][$kind][]?.name] | join(" ")')
    [ -z "$missing" ] || because "missing: $missing"
    verdict "list --json has the $1"
}

names() {
    keep list.json list --json
    names_exist accelerators "$accelerators"
    names_exist models "$models"
    names_exist scenarios "$scenarios"
    names_exist fabrics "$fabrics"
    names_exist stacks "$stacks"
    names_exist policies "decode-first prefill-first"
    names_exist prices "three-racks list"
    names_exist mixes k3-8k1k
    for kind in accelerators fabrics stacks models mixes traces scenarios prices policies; do
        ask list $kind --json
        judges "list $kind is that part of list" out ".$kind | length > 0"
    done
    for scenario in $scenarios; do
        check "scenario $scenario runs" exits_with_an_answer run $scenario
        check "scenario $scenario fits" exits 0 fit $scenario
    done
}

exits_with_an_answer() { # WORDS...
    ask "$@"
    [ "$code" -le 1 ]
}

# ------------------------------------------------------------------------------------------------------------ settings

# A setting makes a number larger or smaller than without it.
moves() { # NAME EXPRESSION VERB SCENARIO SETTING...: EXPRESSION over $a (without) and $b (with)
    moves_name=$1 expression=$2 moves_verb=$3 moves_scenario=$4
    shift 4
    "$program" "$moves_verb" "$moves_scenario" --json >without.json 2>/dev/null
    for setting; do
        set -- "$@" --set "$setting"
        shift
    done
    ask "$moves_verb" "$moves_scenario" "$@" --json
    compares without.json out "$expression" || because "not so: $expression ($(head -n 1 err))"
    verdict "$moves_name"
}

settings() {
    moves "--set into a named file: bandwidth" '$b.ceiling_s < $a.ceiling_s and $b.step_s < $a.step_s' \
        explain k3-8xb300 hardware.accelerator.memory_bandwidth=16TB/s
    moves "--set takes JSON text" '$b.ceiling_s < $a.ceiling_s' \
        explain k3-8xb300 'hardware.accelerator.memory_bandwidth="16TB/s"'
    moves "--set into a list: bandwidth of the inner link" '$b.step_s > $a.step_s' \
        explain k3-8xb300 'hardware.fabric.levels[0].bandwidth=90GB/s'
    moves "--set into a list: latency of the inner link" '$b.step_s > $a.step_s' \
        explain k3-8xb300 'hardware.fabric.levels[0].latency=1ms'
    moves "--set into a list: latency of the outer link" '$b.step_s > $a.step_s' \
        explain k3-16xb200 'hardware.fabric.levels[1].latency=1ms'
    moves "--set into a model" '$b.max_context == 4096' fit k3-8xb300 model.max_context=4096
    moves "--set into a named load" '$b.throughput.output_tokens_per_s < $a.throughput.output_tokens_per_s' \
        run k3-8xb300 workload.arrival.clients=1
    moves "--set takes an object" '$b.load | test("Poisson")' \
        run k3-8xb300 'workload.arrival={"kind": "poisson", "rate": 2}'
    moves "--set null removes" '$a.cost.usd_per_hour == 48 and $b.cost.usd_per_hour == null' run k3-8xb300 price=null
    moves "the later --set wins" '$b.requests.completed == 20' run k3-8xb300 workload.requests=10 workload.requests=20
    moves "--set of a whole part" '$b.gpus == 4 and $b.replicas == 2' \
        run llama70b-4xh100 'parallel={"tp": 2, "replicas": 2}' workload.requests=10
    moves "--set makes what is not there" '$b.objectives[0].met' run k3-8xb300 'objectives=["e2e:1h:p50"]'
    ask run k3-8xb300 --set workload.arrival.rate=3
    grep -q 'workload.arrival.rate' err || because "no note"
    verdict "a setting that this kind of arrival does not use is said"
    ask run llama70b-4xh100 --seed 7 --json
    judges "--seed is the seed" out '.seed == 7'
    ask run llama70b-4xh100 --seed 7 --set seed=8 --json
    judges "--set wins over a short option" out '.seed == 8'
    ask fit --model kimi-k3 --on 8xb300 --tp 8 --json
    judges "settings from the stack are said" out '.assumptions | any(test("memory fraction"))'
    judges "without a load the longest request is the model's" out '.longest_request_tokens == 1048576'
    ask fit --model kimi-k3 --on 8xb300 --tp 8 --context 32768 --json
    judges "fit takes --context" out '.longest_request_tokens == 32768'
    ask explain --model kimi-k3 --on 8xb300 --tp 8 --batch 16 --context 8700 --json
    judges "explain takes --batch and --context" out '.batch == 16 and .context == 8700'
}

# A name, a path or the object itself; `include` merges a file below.
same_answer() { # NAME WORDS...
    same_name=$1
    shift
    ask run "$@" --json
    compares by_name.json out '($a | del(.title, .fingerprint)) == ($b | del(.title, .fingerprint))' || because "another answer: $(head -n 1 err)"
    verdict "$same_name"
}

references() {
    keep by_name.json run k3-8xb300 --json
    "$program" show kimi-k3 >model.json
    "$program" show k3-1k400 >load.json
    "$program" show k3-8xb300 >scenario.json
    same_answer "a scenario by its path" scenario.json
    same_answer "a model by its path" k3-8xb300 --set model=./model.json
    same_answer "a load by its path" k3-8xb300 --set workload=load.json
    jq --slurpfile model model.json --slurpfile load load.json '.model = $model[0] | .workload = $load[0]' scenario.json >whole.json
    same_answer "a model and a load as objects" whole.json
    mkdir beside
    cp model.json beside/own.json
    jq '.model = "own.json"' scenario.json >beside/scenario.json
    same_answer "a model beside the scenario's file" beside/scenario.json
    echo '{"include": "scenario.json", "title": "K3 on one node of B300"}' >included.json
    same_answer "include merges a file below" included.json
    echo '{"include": "scenario.json", "workload": {"requests": 10}, "price": null}' >over.json
    jq '.workload = input' scenario.json load.json >scenario2.json && mv scenario2.json scenario.json
    ask run over.json --json
    judges "what stands above an include wins" out '.requests.completed == 10 and .cost.usd_per_hour == null'
}

# ---------------------------------------------------------------------------------------------------------------- help

# The two lines below "examples".
examples_of() { # VERB
    "$program" "$1" --help | sed -n '/^examples/,$ s/^  rackcast //p'
}

runs_example() { # VERB EXAMPLE
    case $2 in
    *config.json* | *"config file"*)
        [ -f config.json ] || {
            skips "example: rackcast $2" "no folder of config files (RACKCAST_SHARED)"
            return
        } ;;
    esac
    set -- $2
    check "example: rackcast $*" exits 0 "$@"
}

help() {
    check "help" exits 0 help
    check "--help" exits 0 --help
    check "--version" exits 0 --version
    [ ! -f "$shared/models/moonshotai--Kimi-K3.config.json" ] || cp "$shared/models/moonshotai--Kimi-K3.config.json" config.json
    for verb in $("$program" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
        check "$verb --help" exits 0 "$verb" --help
        examples_of "$verb" >examples
        check "$verb has two examples" [ "$(wc -l <examples)" -eq 2 ]
        while read -r example; do
            runs_example "$verb" "$example"
        done <examples
    done
}

answers
exit_codes
refusals
names
settings
references
help
finish
