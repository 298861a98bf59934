#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Bad input: the exit code, a message that says where, what was found and what would do, and nothing written.
# usage: sh bad_input.sh PROGRAM
. "$(dirname "$0")/cases.sh"

sqlite3 before.db "create table kept (x); insert into kept values (1);"
echo "kept" >before.csv
cp before.db kept.db
cp before.csv kept.csv

# --------------------------------------------------------------------------------------------------------- one refusal

# Options that ask for files, as the verb takes them.
files_for() { # VERB STEM
    case $1 in
    run) files="--requests $2.csv --db $2.db" ;;
    compare) files="--db $2.db" ;;
    trace | import) files="--out $2.csv" ;;
    *) files="" ;;
    esac
}

code_is() { # PATTERN
    case $code in
    $1) ;;
    *) because "exit code $code, not $1" ;;
    esac
}

new_line='
'
message_says() { # TEXT
    case $message in
    *"$1"*) ;;
    *) because "the message does not say '$1'" ;;
    esac
}

# A line of the message that starts with WHAT, and has something behind it.
message_has() { # WHAT TEXT
    rest=${message#*"$1:"}
    rest=${rest%%"$new_line"*}
    case $rest in
    "$message" | "" | *" ") because "the message has no '$1'" ;;
    esac
    case $message in
    *"$1:"*"$2"*) ;;
    *) because "'$1' of the message lacks '$2'" ;;
    esac
}

nothing_new() {
    for left in new.* *.unfinished; do
        [ ! -e "$left" ] || because "$left was written"
    done
    [ -z "$why" ] || rm -f new.* ./*.unfinished
}

nothing_changed() {
    cmp -s kept.csv before.csv || because "a CSV file was changed"
    cmp -s kept.db before.db || because "a SQLite file was changed"
    [ -z "$why" ] || {
        cp before.db kept.db
        cp before.csv kept.csv
    }
}

refused_in_words() { # WORDS...
    files_for "$1" new
    ask "$@" $files
    code_is "$want"
    [ ! -s out ] || because "something on standard output"
    message=$(cat err)
    message_says "$place"
    [ -z "$line" ] || message_says "line $line:"
    message_has found "$found"
    message_has expected "$expected"
    nothing_new
}

# What is wrong with the object: its keys, its content, or words that are not on standard error.
error_judged() {
    jq -r --rawfile words err --arg place "$place" --arg found "$found" --arg expected "$expected" --arg line "$line" '
        def texts: [.status, .file, .path, .found, .expected, .message];
        def whole: (texts | all(type == "string")) and (.line | type == "number")
            and .message != "" and .found != "" and .expected != "";
        def right: (.file + " " + .path + " " + .message | contains($place))
            and (.found | contains($found)) and (.expected | contains($expected))
            and ($line == "" or .line == ($line | tonumber));
        def said: texts[1:] | all(. as $text | $words | contains($text));
        if (.error | whole | not) then "--json prints no whole error object"
        elif ([.error, .all[]?] | any(right) | not) then "--json prints another error: " + (.error | tojson)
        elif (.error | said | not) then "standard error has other words than the object"
        else empty end' out 2>/dev/null || echo "--json prints no error object"
}

refused_in_json() { # VERB WORDS...
    files_for "$1" kept
    verb=$1
    shift
    ask "$verb" --json "$@" $files
    code_is "$want"
    if [ -s out ]; then judged=$(error_judged); else judged="--json prints nothing"; fi
    [ -z "$judged" ] || because "$judged"
    nothing_changed
}

# PLACE, FOUND and EXPECTED are parts of what must be said.  `line`, where it is set, must be named.
line=""
refused() { # NAME CODE PLACE FOUND EXPECTED WORDS...
    name=$1 want=$2 place=$3 found=$4 expected=$5
    shift 5
    refused_in_words "$@"
    refused_in_json "$@"
    verdict "$name"
    line=""
}

# ------------------------------------------------------------------------------------------------------ scenario files

"$program" show k3-8xb300 | jq . >plain.json

# A copy of the plain scenario with one text replaced.
scenario() { # FILE SED-EXPRESSION
    sed "$2" plain.json >"$1"
}

misspelt_keys() {
    scenario key.json 's/"policy"/"polcy"/'
    refused "misspelt key in a file" 3 key.json polcy 'did you mean "policy"' run key.json
    refused "misspelt key in a file names the path" 3 engine.polcy polcy 'did you mean "policy"' fit key.json
    refused "misspelt key by --set" 3 engine.max_runing max_runing 'did you mean "max_running"' \
        run k3-8xb300 --set engine.max_runing=8
    refused "misspelt part by --set" 3 workloda workloda 'did you mean "workload"' \
        explain k3-8xb300 --set workloda.requests=8
    scenario case.json 's/"engine"/"Engine"/'
    refused "wrong letter case of a key" 3 Engine Engine 'did you mean "engine"' run case.json
    scenario missing.json '/"model"/d'
    refused "missing key" 3 missing.json nothing model run missing.json
}

units() {
    at=hardware.accelerator.memory_bandwidth
    refused "missing unit" 3 $at 8 TB/s run k3-8xb300 --set $at=8
    refused "wrong unit" 3 $at 8TB TB/s run k3-8xb300 --set $at=8TB
    refused "unknown unit" 3 $at 8XB/s TB/s fit k3-8xb300 --set $at=8XB/s
    refused "negative quantity" 3 $at -8TB/s TB/s explain k3-8xb300 --set $at=-8TB/s
    refused "bandwidth 0" 3 $at 0TB/s "" run k3-8xb300 --set $at=0TB/s
    refused "missing unit of a time" 3 workload.duration 60 ms run k3-8xb300 --set workload.duration=60
    refused "missing unit of a price" 3 price.usd_per_gpu_hour 2.5 '$2.50/h' run k3-8xb300 --set price.usd_per_gpu_hour=2.5
}

layouts() {
    for verb in run fit explain; do
        refused "TP 0, $verb" 3 parallel.tp 0 "from 1" $verb k3-8xb300 --tp 0
        refused "TP -8, $verb" 3 parallel.tp -8 "from 1" $verb k3-8xb300 --tp=-8
        refused "TP 7 on 8 GPUs, $verb" 3 parallel "tp 7" 8 $verb k3-8xb300 --tp 7
        refused "TP 3 on 8 GPUs, $verb" 3 parallel "tp 3" 8 $verb k3-8xb300 --tp 3
    done
    refused "a fused kernel with nothing to fuse" 3 engine.fused_experts true "dp and ep" \
        explain k3-8xb300 --set engine.fused_experts=true
    refused "unknown router" 3 router round-robbin 'did you mean "round-robin"' run k3-nvl72 --set router=round-robbin
    refused "a role without pools" 3 role prefill "list of pools" run k3-8xb300 --set role=prefill
    refused "stages that no link joins" 4 hardware h100-sxm-nvlink "outer level" run k3-8xb300 --set model=llama-3.1-8b \
        --set 'hardware={"accelerator":"h100-sxm","count":24,"fabric":"h100-sxm-nvlink"}' \
        --set 'parallel={"tp":2,"pp":3,"replicas":4}'
    refused "experts of a dense model on ranks" 3 parallel.ep "ep 4" 1 run llama70b-4xh100 --set parallel.ep=4
    refused "nothing to rebalance" 3 parallel.rebalance_steps numbered balanced_experts \
        fit k3-8xb300 --set parallel.rebalance_steps=100
    refused "NICs are not counted" 3 nics nothing NICs fit k3-16xb200 --set hardware.fabric.levels.1.bandwidth_of=nic
    refused "host memory is not told" 3 hardware.host.memory nothing 256GB fit k3-8xb300 --set offload.layers=0.1
    refused "a computing host is not told" 3 hardware.host.peak nothing TFLOP/s \
        run k3-two-xeons --set hardware.host.peak=null
    refused "experts of a dense model" 3 offload.experts share layers \
        run llama70b-int4-rtx-5090 --set offload.experts=0.5
    refused "share of layers above 1" 3 offload.layers 1.5 "to 1" run k3-two-xeons --set offload.layers=1.5
    refused "TP 1.5" 3 parallel.tp 1.5 "whole number" run k3-8xb300 --tp 1.5
    refused "TP that is text" 3 parallel.tp eight "whole number" run k3-8xb300 --tp eight
    refused "EP that does not divide" 3 parallel.ep "ep 3" 8 run k3-8xb300 --ep 3
    refused "DCP that does not divide" 3 parallel.dcp "dcp 3" 8 fit k3-8xb300 --dcp 3
    refused "count that is not the product" 3 parallel "= 8" 16 run k3-8xb300 --set hardware.count=16
    refused "rack without a count" 3 hardware b300 8xb300 fit --model kimi-k3 --on b300
}

experts() {
    refused "copies without popularity to place them by" 3 parallel.redundant_experts 32 "balanced_experts true" \
        explain k3-8xb300 --ep 8 --set parallel.redundant_experts=32
    refused "nothing to balance" 3 parallel.balanced_experts "ep 1" "ep above 1" \
        explain k3-8xb300 --set parallel.balanced_experts=true
    refused "a histogram of another model" 3 workload.routing.counts "3 counts" 896 \
        explain k3-8xb300 --set 'workload.routing={"kind":"histogram","counts":[1,2,3]}'
    refused "a histogram without counts" 3 workload.routing "no counts" "for each expert" \
        explain k3-8xb300 --set 'workload.routing={"kind":"histogram"}'
    refused "a negative count" 3 workload.routing "a negative count" "0 or more" \
        explain k3-8xb300 --set 'workload.routing={"kind":"histogram","counts":[1,-2]}'
    refused "Zipf's law without an exponent" 3 workload.routing "no exponent" "as 0.8" \
        explain k3-8xb300 --set 'workload.routing={"kind":"zipf"}'
    refused "an unknown routing" 3 workload.routing.kind zipff 'did you mean "zipf"' \
        explain k3-8xb300 --set 'workload.routing={"kind":"zipff"}'
}

bad_curves() {
    curves=hardware.stack.kernels.gemm-bf16.curves
    refused "curve along no axis" 3 "$curves[0].axis" widht 'did you mean "width"' \
        explain k3-8xb300 --set "$curves=[{\"axis\":\"widht\",\"points\":[[64,1],[128,2]]}]"
    refused "curve that goes back" 3 "$curves[0].points[1]" '[64,2]' rise \
        explain k3-8xb300 --set "$curves=[{\"axis\":\"width\",\"points\":[[128,1],[64,2]]}]"
    refused "curve of one point" 3 "$curves[0].points" "a list" "two or more" \
        explain k3-8xb300 --set "$curves=[{\"axis\":\"width\",\"points\":[[64,1]]}]"
    refused "curve that takes no time" 3 "$curves[0].points[0]" '[64,0]' "above 0" \
        explain k3-8xb300 --set "$curves=[{\"axis\":\"width\",\"points\":[[64,0],[128,1]]}]"
    refused "curve without a number" 3 "$curves[0].points[0]" '[64,true]' "above 0" \
        explain k3-8xb300 --set "$curves=[{\"axis\":\"width\",\"points\":[[64,true],[128,1]]}]"
}

unknown_names() {
    refused "unknown model" 3 model kimi-k33 'did you mean "kimi-k3"' run k3-8xb300 --model kimi-k33
    refused "unknown accelerator" 3 hardware.accelerator b301 'did you mean "b300"' fit --model kimi-k3 --on 8xb301 --tp 8
    refused "unknown stack" 3 hardware.stack sglang-b30 'did you mean "sglang-b300"' run k3-8xb300 --stack sglang-b30
    refused "unknown fabric" 3 hardware.fabric b300-nvlnk 'did you mean "b300-nvlink"' explain k3-8xb300 --fabric b300-nvlnk
    refused "unknown load" 3 workload k3-8k1 'did you mean "k3-8k1k"' run k3-8xb300 --set workload=k3-8k1
    refused "unknown scenario" 3 scenario k3-8xb3000 'did you mean "k3-8xb300' run k3-8xb3000
    refused "unknown scenario in a comparison" 3 scenario k3-8xb3000 k3-8xb300 compare k3-8xb300 k3-8xb3000
    refused "unknown price book" 3 price.book three-rack 'did you mean "three-racks"' run k3-8xb300 --set price.book=three-rack
    for verb in run fit explain; do
        refused "unknown policy, $verb" 3 engine.policy prefil-first 'did you mean "prefill-first"' \
            $verb k3-8xb300 --set engine.policy=prefil-first
    done
    refused "unknown weights" 3 weights fp9 fp8 fit k3-8xb300 --weights fp9
    refused "unknown KV type" 3 engine.kv_dtype fp9 fp8 run k3-8xb300 --set engine.kv_dtype=fp9
    refused "unknown arrivals" 3 workload.arrival.kind poison 'did you mean "poisson"' \
        run k3-8xb300 --set workload.arrival.kind=poison
    refused "unknown kind of list" 3 "" polcies 'did you mean "policies"' list polcies
    refused "unknown file to show" 3 "" kimi-k33 'did you mean "kimi-k3"' show kimi-k33
    refused "unknown schema" 3 "" scenari 'did you mean "scenario"' schema scenari
    refused "name far from all others" 3 model zzzzzzzz kimi-k3 run k3-8xb300 --model zzzzzzzz
}

usage() {
    refused "unknown verb" 2 "" rum 'did you mean "run"' rum k3-8xb300
    refused "unknown option" 2 "" --jsno 'did you mean "--json"' fit k3-8xb300 --jsno
    refused "option without its value" 2 "" --tp "" fit k3-8xb300 --tp
    refused "too many words" 2 "" 2 SCENARIO fit k3-8xb300 k3-16xb200
    refused "too few words" 2 "" 0 FILE.csv trace
    refused "setting without a value" 2 foo foo path=value run k3-8xb300 --set foo
    refused "setting without a path" 2 =5 =5 path=value run k3-8xb300 --set =5
    refused "setting of no path at all" 2 ... ... path=value run k3-8xb300 --set ...=1
    refused "seed -1" 3 seed -1 "whole number" run llama70b-4xh100 --seed=-1
    refused "seed that is text" 3 seed abc "whole number" run llama70b-4xh100 --seed abc
    refused "batch 0" 2 "" 0 "" explain k3-8xb300 --batch 0
    refused "nothing to vary" 2 --vary nothing path=a,b,c whatif k3-8xb300
    refused "a path without values to vary" 2 --vary parallel.tp path=a,b,c whatif k3-8xb300 --vary parallel.tp
    refused "an empty value" 2 parallel.tp "an empty value" commas whatif k3-8xb300 --vary parallel.tp=8,,16
    refused "a multiple of a text" 2 model.name '"kimi-k3"' "a number" whatif k3-8xb300 --vary model.name=x2
    refused "a multiple of nothing" 2 seed.none nothing "a number" whatif k3-8xb300 --vary seed.none=x2
    refused "paths with unlike counts" 2 hardware.count "1 value" "2, as parallel.tp" \
        whatif k3-8xb300 --vary parallel.tp=8,16 --vary hardware.count=8
    refused "a varied key that is not there" 3 hardware.accelerator.memory_bandwith "" 'did you mean "memory_bandwidth"' \
        whatif k3-8xb300 --vary hardware.accelerator.memory_bandwith=1TB/s,2TB/s
}

json_text() {
    scenario comma.json 's/"seed": 1$/"seed": 1,/'
    refused "trailing comma" 3 comma.json "" "trailing comma" run comma.json
    scenario twice.json 's/"tp": 8/"tp": 8, "tp": 4/'
    refused "key twice" 3 twice.json twice once run twice.json
    refused "key twice in a value of --set" 3 tp twice once run k3-8xb300 --set 'parallel={"tp": 8, "tp": 4}'
    { cat plain.json && echo extra; } >trailing.json
    line=$(($(wc -l <plain.json) + 1))
    refused "text after the end" 3 trailing.json extra "after the end" run trailing.json
    scenario open.json '$d'
    refused "object that does not end" 3 open.json "" JSON run open.json
    scenario single.json "s/\"/'/g"
    line=2
    refused "single quotes" 3 single.json "" "double quotes" fit single.json
    : >empty.json
    refused "empty file" 3 empty.json "" JSON run empty.json
    printf '{"schema": "\000"}' >zero.json
    refused "zero byte in a file" 3 zero.json "zero byte" text run zero.json
    echo '[1]' >list.json
    refused "list instead of a scenario" 3 list.json "" scenario run list.json
    scenario version.json 's#rackcast/scenario/1#rackcast/scenario/9#'
    refused "schema of another version" 3 version.json rackcast/scenario/9 rackcast/scenario/1 run version.json
    scenario infinite.json 's/"seed": 1$/"seed": 1e999/'
    refused "number out of range" 3 infinite.json "" "" run infinite.json
}

files() {
    mkdir folder.json
    refused "folder as scenario" 3 folder.json folder file run folder.json
    refused "folder as trace" 3 ./folder.json "" file trace ./folder.json
    refused "scenario that does not exist" 3 none.json "no such file" file run none.json
    refused "model file that does not exist" 3 none.json "" file fit k3-8xb300 --model none.json
    refused "trace that does not exist" 3 none.csv "" file trace none.csv
    refused "config that does not exist" 3 none.json "" file import none.json
    echo '{"include": "second.json"}' >first.json
    echo '{"include": "first.json"}' >second.json
    refused "includes in a circle" 3 include "" "" run first.json
    echo '{"include": "third.json"}' >third.json
    refused "file that includes itself" 3 third.json "" "" run third.json
    echo '{"include": "none.json"}' >fourth.json
    refused "include that does not exist" 3 none.json "" file run fourth.json
    echo '{"include": 3}' >fifth.json
    refused "include that is no text" 3 include 3 "file name" run fifth.json
}

bad_arrival() { # NAME KEY FOUND EXPECTED ARRIVAL
    refused "$1" 3 "workload.arrival.$2" "$3" "$4" run llama70b-4xh100 --set "workload.arrival=$5"
}

loads() {
    for length in 0 -1 1.5; do
        refused "length $length" 3 workload.input_tokens $length "whole number" run k3-8xb300 --set workload.input_tokens=$length
    done
    refused "output length 0" 3 workload.output_tokens 0 "whole number" fit k3-8xb300 --set workload.output_tokens=0
    refused "lengths from 5 to 2" 3 workload.input_tokens "" shortest \
        run k3-8xb300 --set 'workload.input_tokens={"uniform": [5, 2]}'
    refused "rate 0" 3 workload.arrival.rate 0 "above 0" run llama70b-4xh100 --set workload.arrival.rate=0
    refused "negative rate" 3 workload.arrival.rate -1 "above 0" run llama70b-4xh100 --set workload.arrival.rate=-1
    refused "clients 0" 3 workload.arrival.clients 0 "from 1" run k3-8xb300 --set workload.arrival.clients=0
    refused "requests 0" 3 workload.requests 0 "from 1" run k3-8xb300 --set workload.requests=0
    refused "arrivals without a rate" 3 workload.arrival.rate nothing "" run k3-8xb300 --set workload.arrival.kind=poisson
    bursts='"kind": "modulated", "rate": 2, "burst_share": 0.2, "burst_length"'
    bad_arrival "bursts without a length" burst_length nothing 30s \
        '{"kind": "modulated", "rate": 2, "burst_factor": 3, "burst_share": 0.2}'
    bad_arrival "bursts without a factor" burst_factor nothing rate "{$bursts: \"30s\"}"
    bad_arrival "bursts no faster than the rest" burst_factor 1 "above 1" "{$bursts: \"30s\", \"burst_factor\": 1}"
    bad_arrival "bursts slower than the rest" burst_factor 0.5 "from 1" "{$bursts: \"30s\", \"burst_factor\": 0.5}"
    bad_arrival "bursts of more than all" burst_share "6 times" 0.166667 "{$bursts: \"30s\", \"burst_factor\": 6}"
    bad_arrival "bursts of all time" burst_share 1 "to 0.999999" \
        '{"kind": "modulated", "rate": 2, "burst_factor": 3, "burst_share": 1, "burst_length": "30s"}'
    bad_arrival "length of bursts without a unit" burst_length 30 ms "{$bursts: 30, \"burst_factor\": 3}"
    bad_arrival "bursts between two arrivals" burst_length 6.67e+04 "at most 1000" "{$bursts: \"3us\", \"burst_factor\": 3}"
    bad_arrival "bursts of years" burst_length "800 days" 365d "{$bursts: \"800d\", \"burst_factor\": 3}"
    bad_arrival "a day without a curve" curve nothing "2 to 288" '{"kind": "daily", "rate": 2}'
    bad_arrival "a curve without a rate" rate nothing second '{"kind": "daily", "curve": [1, 2]}'
    bad_arrival "a curve of one slot" curve "1 number" "2 to 288" '{"kind": "daily", "rate": 2, "curve": [1]}'
    bad_arrival "a curve of text" curve noon "list of numbers" '{"kind": "daily", "rate": 2, "curve": "noon"}'
    bad_arrival "a curve below 0" 'curve[1]' -3 "from 0" '{"kind": "daily", "rate": 2, "curve": [1, -3, 2]}'
    bad_arrival "a curve of zeros" curve "but 0" "above 0" '{"kind": "daily", "rate": 2, "curve": [0, 0]}'
    bad_arrival "a period of a moment" period 0.005 1s '{"kind": "daily", "rate": 2, "curve": [1, 2], "period": "5ms"}'
    many=$(seq -s , 289)
    bad_arrival "a curve of 289 slots" curve "289 numbers" "2 to 288" "{\"kind\": \"daily\", \"rate\": 2, \"curve\": [$many]}"
    trace='"kind": "trace", "file": "k3-chat-1000"'
    bad_arrival "jitter without a unit" jitter 1 ms "{$trace, \"jitter\": 1}"
    bad_arrival "negative jitter" jitter -1s ms "{$trace, \"jitter\": \"-1s\"}"
    bad_arrival "jitter of days" jitter "2 days" "at most a day" "{$trace, \"jitter\": \"2d\"}"
    refused "pause longer than the clock" 3 workload days "200 days" \
        run k3-8xb300 --set workload.arrival.think_time=1000d
    refused "rate slower than the clock" 3 workload days "200 days" run llama70b-4xh100 --set workload.arrival.rate=1e-9
    refused "run without a load" 3 workload nothing arrival run --model kimi-k3 --on 8xb300 --tp 8
}

objectives() {
    refused "objective without a unit" 3 'objectives[0]' ttft:2:p99 ttft:2s:p99 run k3-8xb300 --set 'objectives=["ttft:2:p99"]'
    refused "objective of an unknown metric" 3 'objectives[0]' foo:2s tpot run k3-8xb300 --set 'objectives=["foo:2s"]'
    refused "percentile above 100" 3 'objectives[1]' p101 p99 run k3-8xb300 --set 'objectives=["ttft:2s:p99", "ttft:2s:p101"]'
}

not_supported() {
    refused "drafts without acceptance" 3 speculation.acceptance nothing "" run k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 7}'
    refused "no such draft" 3 speculation.draft k3-dspar k3-dspark run k3-8xb300 --set 'speculation={"draft": "k3-dspar", "tokens": 7, "acceptance": 2}'
    refused "content that was not measured" 3 speculation.acceptance codign coding run k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 7, "acceptance": "codign"}'
    refused "more accepted than drafted" 3 speculation.acceptance 9 "1 to 8" run k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 7, "acceptance": 9}'
    refused "more drafts than measured" 3 speculation.acceptance "9 drafts" "at most 8" run k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 9, "acceptance": "coding"}'
    refused "chances that rise" 3 speculation.acceptance "" per_position run k3-8xb300 --set 'speculation={"draft": "k3-dspark", "tokens": 2, "acceptance": {"per_position": [0.5, 0.6]}}'
    refused "a draft of another model" 3 speculation.draft "width 7168" "width 8192" run llama70b-4xh100 --set 'speculation={"draft": "k3-dspark", "tokens": 2, "acceptance": 2}'
    refused "host cache without a prefix cache" 3 engine.prefix_cache false true run k3-8xb300 --set engine.host_cache=64GB
    refused "remote cache without bandwidth" 3 engine.remote_bandwidth nothing GB/s run k3-8xb300 --set engine.prefix_cache=true --set engine.remote_cache=1TB
    refused "sessions in a trace" 3 workload.sessions "a trace" column run k3-chat-trace --set 'workload.sessions={"turns": 3}'
    refused "sessions without turns" 3 workload.sessions.turns "" "" run k3-8xb300 --set 'workload.sessions={"pause": "1s"}'
    refused "a summary as long as the limit" 3 workload.sessions.compact_at "" more run k3-8xb300 --set 'workload.sessions={"turns": 3, "system_tokens": 900, "compact_at": 1000, "compact_to": 100}'
    refused "pools beside a rack" 3 hardware "pools beside it" "each pool" \
        run k3-8xb300 --set 'pools=[{"hardware": "8xb300"}]'
    refused "prefill without decode" 3 pools "1 for prefill" "some of prefill and some of decode" run k3-8xb300 \
        --set hardware=null --set parallel=null --set 'pools=[{"role": "prefill", "hardware": "8xb300"}]'
    refused "misspelt key of a pool" 3 'pools[1].paralel' paralel 'did you mean "parallel"' run k3-8xb300 \
        --set hardware=null --set parallel=null --set 'pools=[{"hardware": "8xb300"}, {"paralel": {"tp": 8}}]'
    refused "a layout of one pool" 3 'pools[1].parallel' "tp 3" 8 run k3-8xb300 --set hardware=null \
        --set parallel=null --set 'pools=[{"hardware": "8xb300"}, {"hardware": "8xb200", "parallel": {"tp": 3}}]'
    refused "no list of pools" 3 pools "no list" list run k3-8xb300 --set hardware=null --set parallel=null \
        --set pools=2
}

# --------------------------------------------------------------------------------------------- several mistakes at once

lists() { # NAME PATHS WORDS...
    lists_name=$1 paths=$2
    shift 2
    ask "$@" --json
    [ "$code" -eq 3 ] || because "exit code $code, not 3"
    for path in $paths; do
        jq -e --arg path "$path" '.all | any(.path == $path)' out >/dev/null 2>&1 || because "--json does not list $path"
        grep -qF "$path" err || because "the message does not list $path"
    done
    verdict "$lists_name"
}

several() {
    scenario several.json 's/"policy"/"polcy"/; s/"tp": 8/"tp": 0/; s/"seed": 1$/"seed": -1/'
    lists "three mistakes in a file" "engine.polcy parallel.tp seed" run several.json
    lists "key, unit and degree" "engine.polcy hardware.accelerator.memory_bandwidth parallel.tp" \
        run k3-8xb300 --tp 0 --set engine.polcy=x --set hardware.accelerator.memory_bandwidth=8
    lists "two names" "model hardware.fabric" run k3-8xb300 --model nosuch --fabric nosuch
    lists "layout, price book and objective" "parallel price.book objectives[0]" \
        run k3-8xb300 --tp 7 --set price.book=nosuch --set 'objectives=["foo"]'
    lists "name, key and degree" "model engine.polcy parallel.tp" \
        run k3-8xb300 --model nosuch --tp 0 --set engine.polcy=x
    lists "key, layout and price book" "engine.polcy parallel price.book" \
        run k3-8xb300 --tp 7 --set engine.polcy=x --set price.book=nosuch
}

# -------------------------------------------------------------------------------------------------------------- traces

bad_trace() { # NAME LINE FOUND EXPECTED FORMAT
    trace_name=$1 trace_line=$2 trace_found=$3 trace_expected=$4
    printf "$5" >trace.csv
    line=$trace_line
    refused "$trace_name" 3 trace.csv "$trace_found" "$trace_expected" trace trace.csv
    line=$trace_line
    refused "$trace_name, run" 3 trace.csv "$trace_found" "$trace_expected" \
        run llama70b-4xh100 --set 'workload={"arrival": {"kind": "trace", "file": "trace.csv"}}'
}

# What a trace says of its prompts' contents.
bad_contents() {
    turns="arrival_s,session,input_tokens,cached_tokens,output_tokens"
    blocks="arrival_s,input_tokens,output_tokens,hash_ids"
    bad_trace "more cached than the prompt has" 3 1201 "at most those of the prompt" "$turns\n0,a,900,0,80\n1,a,1200,1201,80\n"
    bad_trace "negative cached tokens" 3 -5 "whole number" "$turns\n0,a,900,0,80\n1,a,1200,-5,80\n"
    bad_trace "text as cached tokens" 2 most "whole number" "$turns\n0,a,900,most,80\n"
    bad_trace "fraction of a cached token" 2 0.5 "whole number" "$turns\n0,a,900,0.5,80\n"
    bad_trace "cached tokens 1e19" 2 1e19 "whole number" "$turns\n0,a,900,1e19,80\n"
    bad_trace "blocks too few" 2 "1 ids for 900 tokens" 2 "$blocks\n0,900,80,[4]\n"
    bad_trace "blocks too many" 3 "3 ids for 900 tokens" 2 "$blocks\n0,900,80,\"[4,5]\"\n1,900,80,\"[4,5,6]\"\n"
    bad_trace "no list of blocks" 2 4 "[46, 47]" "$blocks\n0,500,80,4\n"
    bad_trace "list of blocks that never ends" 2 "[4" "[46, 47]" "$blocks\n0,500,80,[4\n"
    bad_trace "text as a block" 2 "[x]" "[46, 47]" "$blocks\n0,500,80,[x]\n"
    bad_trace "block beyond 64 bits" 2 "[18446744073709551616]" "[46, 47]" "$blocks\n0,500,80,[18446744073709551616]\n"
    bad_trace "blocks in JSON that are no list" 2 7 "[46, 47]" \
        '{"arrival_s":0,"input_tokens":9,"output_tokens":2,"hash_ids":[7]}\n{"arrival_s":1,"input_tokens":9,"output_tokens":2,"hash_ids":7}\n'
}

# Loads that are to be written down as traces.
bad_loads() {
    refused "a load that is a trace already" 3 workload.arrival k3-chat-1000 "no trace" trace k3-chat-trace
    refused "misspelt key of a mix" 3 workload.reqests reqests 'did you mean "requests"' trace k3-chat --set workload.reqests=5
    refused "misspelt part of a load" 3 workloda workloda 'did you mean "workload"' trace k3-chat --set workloda.requests=5
    refused "seed that is no number" 3 seed one "" trace k3-chat --seed one
    refused "scenario without a load" 3 workload nothing load trace scenario.json
    refused "settings of a trace" 2 --set workload.requests=5 "mix or a scenario" trace k3-chat-1000 --set workload.requests=5
    refused "unit of a load" 2 --unit k3-chat trace trace k3-chat --unit s
    refused "duration before the first request" 3 workload.duration "no request" duration trace k3-chat --set workload.duration=1us
}

traces() {
    header="arrival_s,input_tokens,output_tokens"
    row="0,10,20"
    bad_trace "empty cell" 3 empty "number of tokens" "$header\n$row\n1,,5\n"
    bad_trace "empty time" 3 empty time "$header\n$row\n,3,5\n"
    bad_trace "text instead of a count" 3 abc "number of tokens" "$header\n$row\n1,abc,5\n"
    bad_trace "text instead of a time" 3 abc time "$header\n$row\nabc,3,5\n"
    bad_trace "hexadecimal time" 3 0x10 time "$header\n$row\n0x10,3,5\n"
    bad_trace "negative count" 4 -3 "0 to" "$header\n$row\n1,2,5\n2,-3,5\n"
    bad_trace "negative time" 3 -1 "0 or more" "$header\n$row\n-1,2,5\n"
    bad_trace "count 1e19" 3 1e19 "number of tokens" "$header\n$row\n1,1e19,5\n"
    bad_trace "count 10000000000000000000" 3 10000000000000000000 "number of tokens" "$header\n$row\n1,10000000000000000000,5\n"
    bad_trace "time 1e19" 3 1e19 time "$header\n$row\n1e19,2,5\n"
    bad_trace "fraction of a token" 3 2.5 "whole number" "$header\n$row\n1,2.5,5\n"
    bad_trace "unsorted times" 4 4 backwards "$header\n$row\n5,1,5\n4,1,5\n"
    bad_trace "times without a unit" 2 0 arrival_ms "arrival,input_tokens,output_tokens\n$row\n5,1,5\n"
    bad_trace "milliseconds in a column of seconds" 1 "4 requests" arrival_ms "$header\n$row\n120000,1,5\n300000,1,5\n500000,1,5\n"
    bad_trace "date among numbers" 3 2023-11-16 number "$header\n$row\n2023-11-16 18:15:46.68,1,5\n"
    bad_trace "number among dates" 3 5 "" "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.68,1,5\n5,1,5\n"
    bad_trace "missing column" 1 arrival_s,tokens,output_tokens input_tokens "arrival_s,tokens,output_tokens\n$row\n"
    bad_trace "row that is too short" 3 empty "number of tokens" "$header\n$row\n1,3\n"
    bad_trace "quoted cell that never ends" 3 "" quote "$header\n$row\n1,\"3,4\n2,3,4\n3,4,5\n"
    bad_trace "zero byte" 3 zero text "$header\n$row\n1,3\000,4\n"
    bad_trace "empty file" 1 empty header ""
    bad_trace "header only" 1 "" row "$header\n"
    bad_contents
    bad_trace "UTF-16" 1 UTF-16 UTF-8 '\377\376a\000'
    printf "%s\n%s\n" "$header" "$row" | gzip | head -c 30 >cut.csv
    refused "damaged gzip" 3 cut.csv "" "" trace cut.csv
    printf "%s\n%s\n" "$header" "$row" >good.csv
    jq 'del(.workload)' plain.json >scenario.json
    bad_loads
    refused "unknown unit of time" "[23]" "" h ms trace good.csv --unit h
}

# Other spellings of one table, read like the plain one.
same_rows() { # NAME FILE
    ask trace "$2" --out read.csv
    [ "$code" -eq 0 ] || because "exit code $code: $(head -n 1 err)"
    cmp -s rows.csv read.csv || because "other rows"
    rm -f read.csv
    verdict "$1"
}

spellings() {
    printf 'arrival_s,input_tokens,output_tokens\n0.5,10,20\n1.25,30,40\n2.0,50,60\n' >table.csv
    ask trace table.csv --out rows.csv
    check "plain CSV" [ "$(wc -l <rows.csv)" -eq 4 ]
    { printf '\357\273\277' && cat table.csv; } >mark.csv
    same_rows "CSV with a byte-order mark" mark.csv
    sed 's/$/\r/' table.csv >crlf.csv
    same_rows "CSV with CRLF" crlf.csv
    sed '1s/[a-z_]*/"&"/g; 1s/""//g' table.csv >quoted.csv
    same_rows "CSV with a quoted header" quoted.csv
    sed 's/[^,]*/"&"/g' table.csv >cells.csv
    same_rows "CSV with quoted cells" cells.csv
    tr , ';' <table.csv >semicolons.csv
    same_rows "CSV with semicolons" semicolons.csv
    tr , '\t' <table.csv >tabs.csv
    same_rows "CSV with tabs" tabs.csv
    printf %s "$(cat table.csv)" >unended.csv
    same_rows "CSV without a final newline" unended.csv
    { printf '\357\273\277' && sed 's/[a-z_]*/"&"/g; s/""//g; s/$/\r/' table.csv | tr , ';'; } | gzip >all.csv.gz
    same_rows "all of it at once, gzipped" ./all.csv.gz
}

misspelt_keys
units
layouts
experts
bad_curves
unknown_names
usage
json_text
files
loads
objectives
not_supported
several
traces
spellings
finish
