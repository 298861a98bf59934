#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Everything the program writes besides its answer in JSON: SQLite, CSV, Markdown, log lines, traces, data files.
# usage: sh outputs.sh PROGRAM
. "$(dirname "$0")/cases.sh"

value() { # FILE SQL
    sqlite3 "$1" "$2" 2>/dev/null
}

is() { # FOUND WANTED WHAT
    [ "$1" = "$2" ] || because "$3: $1, not $2"
}

# -------------------------------------------------------------------------------------------------------------- SQLite

first_run() {
    keep first.json run llama70b-4xh100 --json --db runs.db --requests requests.csv || because "exit code $code"
    verdict "a run with --db and --requests"
    completed=$(jq .requests.completed first.json)
    for table in run request breakdown timeline data_file; do
        [ "$(value runs.db "select count(*) from $table")" -gt 0 ] 2>/dev/null || because "table $table is empty or missing"
    done
    verdict "--db has its five tables"
    is "$(value runs.db 'select count(*) from run')" 1 runs
    is "$(value runs.db 'select completed from run')" "$completed" completed
    is "$(value runs.db 'select fingerprint from run')" "$(jq -r .fingerprint first.json)" fingerprint
    is "$(value runs.db 'select seed from run')" "$(jq .seed first.json)" seed
    is "$(value runs.db 'select version from run')" "$(jq -r .version first.json)" version
    verdict "--db: the run is the one that was printed"
    is "$(value runs.db 'select count(*) from request where finish_s is not null')" "$completed" "finished requests"
    is "$(value runs.db 'select count(*) from request where not (arrival_s <= admitted_s and admitted_s <= first_token_s
        and first_token_s <= finish_s)')" 0 "requests whose times are out of order"
    verdict "--db: one row a request, times in order"
    is "$(value runs.db 'select abs(sum(share) - 1) < 1e-9 from breakdown')" 1 "shares add up to 1"
    is "$(value runs.db 'select count(*) from breakdown where share < 0')" 0 "negative shares"
    verdict "--db: the breakdown adds up to 1"
    is "$(value runs.db 'select count(*) from timeline')" "$(jq '.timeline.waiting | length' first.json)" "points in time"
    is "$(value runs.db 'select count(*) from timeline where kv_used < 0 or kv_used > 1')" 0 "cache use outside 0 to 1"
    verdict "--db: the timeline"
    for file in h100-sxm.json h100-sxm-nvlink.json vllm-h100-sxm.json llama-3.1-70b.json; do
        is "$(value runs.db "select count(*) from data_file where name = '$file' and length(hash) = 16")" 1 "hash of $file"
    done
    verdict "--db: the hashes of the data files"
    value runs.db 'select scenario from run' >resolved.json
    holds resolved.json '.model.name == "llama-3.1-70b" and .hardware.accelerator.name == "h100-sxm"' ||
        because "no model or accelerator in it"
    verdict "--db: the resolved scenario is whole JSON"
}

second_run() {
    ask run llama70b-4xh100 --set workload.requests=50 --db runs.db
    is "$(value runs.db 'select count(*) from run')" 2 runs
    is "$(value runs.db 'select count(*) from request where run_id = 2')" 50 "requests of the second run"
    is "$(value runs.db 'select count(*) from request where run_id = 1')" "$completed" "requests of the first run"
    is "$(value runs.db 'select count(*) from (select sum(share) as s from breakdown group by run_id) where abs(s - 1) < 1e-9')" \
        2 "breakdowns that add up to 1"
    verdict "--db: a second run is added"
    ask compare k3-8xb300 k3-16xb200 --db compared.db
    is "$(value compared.db 'select count(*) from run')" 2 runs
    verdict "compare --db: a run for each"
    ask run k3-8xb300 --set 'objectives=["ttft:1ms"]' --db missed.db
    is "$code" 1 "exit code"
    is "$(value missed.db 'select count(*) from run')" 1 runs
    verdict "--db: a missed objective is saved too"
}

not_a_database() {
    echo "no database" >text.db
    cp text.db text.before
    check "--db that is no SQLite file: exit 5" exits 5 run k3-8xb300 --db text.db
    check "--db that is no SQLite file stays as it is" cmp -s text.db text.before
    sqlite3 other.db 'create table run (x); insert into run values (1);'
    check "--db with another table of the name: exit 5" exits 5 run k3-8xb300 --db other.db
    is "$(value other.db 'select group_concat(name) from sqlite_master')" run tables
    verdict "--db with another table of the name stays as it is"
}

# ---------------------------------------------------------------------------------------------------------------- CSV

requests_csv() {
    is "$(wc -l <requests.csv)" $((completed + 1)) lines
    is "$(head -n 1 requests.csv)" \
        request,replica,input_tokens,output_tokens,arrival_s,admitted_s,first_token_s,finish_s,preemptions,found_tokens header
    is "$(cut -d , -f 3 requests.csv | tail -n +2 | paste -s -d + | sed 's/.*/jq -n "&"/' | sh)" \
        "$(value runs.db 'select sum(input_tokens) from request where run_id = 1')" "input tokens, and those in SQLite"
    verdict "--requests: a header and a line a request"
    is "$(sed 1d requests.csv | cut -d , -f 5 | sort -c -g 2>&1)" "" "arrivals out of order"
    verdict "--requests: in order of arrival"
    ask run llama70b-4xh100 --json --requests again.csv
    check "--requests: the same run writes the same bytes" cmp -s requests.csv again.csv
    ask run llama70b-4xh100 --json --set workload.duration=60s --requests cut.csv
    is "$(cut -d , -f 8 cut.csv | tail -n +2 | grep -c .)" "$(jq .requests.completed out)" "lines with a finish"
    verdict "--requests: no finish for a request that the end cut off"
}

# Every row has as many cells as the header; quoted cells count as one.
is_table() { # FILE
    sed 's/""//g; s/"[^"]*"/x/g; s/[^,]//g' "$1" | sort -u | wc -l | grep -qx 1
}

run_csv() {
    ask run k3-8xb300 --csv
    is "$code" 0 "exit code"
    is "$(wc -l <out)" 2 lines
    is_table out || because "rows of unequal length"
    verdict "run --csv: a header and a row"
    ask run k3-8xb300 --csv --set 'title="a \"b\", c"'
    grep -q '^"a ""b"", c' out || because "$(tail -n 1 out | cut -c 1-20)"
    verdict "run --csv: quotes in a cell are doubled"
    ask list accelerators --csv
    is "$code" 0 "exit code"
    is_table out || because "rows of unequal length"
    verdict "list --csv"
}

# Cells are for programs: no unit, no thousands apart, no marks.
plain_numbers() { # NAME WORDS...
    plain_name=$1
    shift
    ask "$@"
    is "$code" 0 "exit code"
    [ "$(wc -l <out)" -gt 1 ] || because "no rows"
    grep -qE '[0-9],[0-9]{3}"|[0-9.]+ (%|[kMGT]?B|[mun]?s)(,|$)|\*' out && because "a cell for people: $(sed -n 2p out)"
    verdict "$plain_name: numbers in SI"
}

other_csv() {
    plain_numbers "fit --csv" fit k3-8xb300 --csv
    plain_numbers "explain --csv" explain k3-8xb300 --csv
    plain_numbers "compare --csv" compare k3-8xb300 k3-16xb200 --csv
}

# ------------------------------------------------------------------------------------------------------ Markdown, log

markdown() {
    for words in "run k3-8xb300" "fit k3-8xb300" "explain k3-8xb300" "compare k3-8xb300 k3-16xb200"; do
        ask $words --markdown
        is "$code" 0 "exit code"
        grep -qE '^\|( *:?-+:? *\|)+$' out || because "no line under a table's header"
        verdict "$words --markdown has a table"
    done
}

log_lines() {
    for verb in run fit; do
        ask $verb k3-8xb300 --log
        is "$code" 0 "exit code"
        grep -qE '^Available KV cache memory: [0-9]+\.[0-9]+ GiB$' out || because "no 'Available KV cache memory:'"
        grep -qE '^GPU KV cache size: [0-9,]+ tokens$' out || because "no 'GPU KV cache size:'"
        grep -qE '^Maximum concurrency for [0-9,]+ tokens per request: [0-9.]+x$' out || because "no 'Maximum concurrency for'"
        verdict "$verb --log has the lines engines print"
    done
    ask fit k3-8xb300 --json
    # requests of the longest length that fit, each with its KV and its state, times that length
    tokens=$(jq '.longest_request_tokens as $n | .room_bytes_per_gpu * $n /
        ($n * .kv_bytes_per_token_per_gpu + .state_slots_per_request * .state_bytes_per_request_per_gpu) | round' out)
    ask fit k3-8xb300 --log
    is "$(sed -n 's/^GPU KV cache size: \(.*\) tokens/\1/p' out | tr -d ,)" "$tokens" tokens
    verdict "fit --log says what fit --json says"
}

words_for_people() {
    ask run llama70b-4xh100
    for word in TTFT TPOT E2E p50 p90 p95 p99 output input total; do
        grep -q "$word" out || because "no '$word' on the screen"
    done
    grep -q '\$' out || because "no price on the screen"
    grep -qi 'bound by' out || because "not what it is bound by"
    verdict "run for people: latency, throughput, price, bound"
    ask run llama70b-4xh100 --set workload.arrival.rate=50
    grep -q OVERLOAD out || because "not said"
    verdict "run for people: an overload is said"
    ask run llama70b-4xh100 --set workload.arrival.rate=50 --json
    holds out '(.stationary | not) and .queue_growth_per_s > 0' || because "stationary or no growth"
    verdict "an overload in JSON"
}

# -------------------------------------------------------------------------------------------------------------- traces

trace_files() {
    printf '%s\n' TIMESTAMP,ContextTokens,GeneratedTokens '2023-11-16 18:15:46.6805900,374,44' \
        '2023-11-16 18:15:50.9951690,396,109' '2023-11-16 18:15:50.9951690,879,55' '2023-11-16 23:59:59.9,91,16' \
        '2023-11-17T00:00:00.1Z,91,16' >dated.csv
    keep plain.json trace dated.csv --json --out ours.csv || because "exit code $code: $(head -n 1 err)"
    is "$(wc -l <ours.csv)" 6 lines
    verdict "trace --out"
    keep back.json trace ours.csv --json
    check "trace --out: what was written reads the same" cmp -s plain.json back.json
    ask trace ours.csv --out again.csv
    check "trace --out: twice the same bytes" cmp -s ours.csv again.csv
    gzip -k dated.csv
    keep packed.json trace ./dated.csv.gz --json
    check "a gzipped trace reads like the plain one" cmp -s plain.json packed.json
    sed '3s/,109$/,0/' dated.csv >zero.csv
    keep zero.json trace zero.csv --json
    holds zero.json '.rows == 4 and .skipped_zero_tokens == 1' || because "$(jq -c '[.rows, .skipped_zero_tokens]' zero.json)"
    verdict "rows without tokens are counted, not played"
}

# Traces that say what prompts repeat, written and read again.
trace_contents() {
    printf '%s\n' arrival_s,chat_id,prompt_tokens,prefix_tokens,completion_tokens 0,x,900,,80 1,y,700,,60 \
        2,x,1200,,80 3,x,500,300,40 4,,800,,20 5,y,900,,10 >turns.csv
    keep plain.json trace turns.csv --json --out ours.csv || because "exit code $code: $(head -n 1 err)"
    holds plain.json '.sessions == 2 and .repeated_tokens == 980 + 300 + 760' || because "$(jq -c '[.sessions, .repeated_tokens]' plain.json)"
    is "$(head -n 1 ours.csv)" arrival_s,session,input_tokens,cached_tokens,output_tokens header
    is "$(cut -d , -f 4 ours.csv | sed 1d | paste -s -d ' ')" "0 0 980 300 0 760" "cached tokens"
    keep back.json trace ours.csv --json --out again.csv
    cmp -s plain.json back.json && cmp -s ours.csv again.csv || because "reads otherwise than it was written"
    verdict "trace --out keeps what sessions say"
    printf '%s\n' arrival_s,input_tokens,output_tokens,hash_ids '0,900,80,"[4, 5]"' 1,700,60, '2,1200,80,"[4, 5, 9]"' >blocks.csv
    keep plain.json trace blocks.csv --json --out ours.csv || because "exit code $code: $(head -n 1 err)"
    keep back.json trace ours.csv --json --out again.csv
    cmp -s plain.json back.json && cmp -s ours.csv again.csv || because "reads otherwise than it was written"
    verdict "trace --out keeps blocks, and rows without them"
    printf 'arrival_s,input_tokens,cached_tokens,output_tokens\n0,900,100,80\n' >nobody.csv
    ask trace nobody.csv
    grep -q "cached_tokens is not used" err || because "no note"
    verdict "cached tokens without a session are said not to count"
}

# The traces that ship are what the mixes make, byte by byte.
trace_of_load() {
    for mix in k3-chat k3-agentic; do
        ask trace $mix --out made.csv
        is "$code" 0 "exit code"
        "$program" show $mix-1000 >shipped.csv
        cmp -s made.csv shipped.csv || because "other bytes than the trace that ships"
        verdict "trace $mix makes $mix-1000"
    done
    ask trace k3-chat --seed 2 --out other.csv
    cmp -s other.csv shipped.csv && because "the same requests"
    verdict "another seed makes another trace"
    ask trace k3-8xb300 --set workload=k3-chat --out other.csv
    ask trace k3-chat --out made.csv
    cmp -s other.csv made.csv || because "other requests"
    "$program" show k3-chat >load.json
    ask trace load.json --out other.csv
    cmp -s other.csv made.csv || because "other requests from its file"
    verdict "a mix by its name, its file and in a scenario makes the same trace"
    ask trace k3-agentic --json --set workload.requests=40
    judged '.rows == 40 and .sessions >= 16' out
    verdict "settings change a load before it is written down"
}

# A trace by its file, plain or gzipped, plays alike.
trace_runs() {
    printf 'arrival_s,input_tokens,output_tokens\n0,100,20\n0.5,200,30\n1.25,300,10\n2,400,40\n' >four.csv
    gzip -k four.csv
    load='workload={"arrival": {"kind": "trace", "file": "four.csv"}}'
    keep four.json run llama70b-4xh100 --json --set "$load" --requests four.out
    judged '.requests.completed == 4' four.json
    is "$(cut -d , -f 3-5 four.out | sed 1d | paste -s -d ' ')" \
        "100,20,0.000000000 200,30,0.500000000 300,10,1.250000000 400,40,2.000000000" rows
    verdict "a trace is played as it is"
    ask run llama70b-4xh100 --json --set 'workload={"arrival": {"kind": "trace", "file": "./four.csv.gz"}}' --requests packed.out
    cmp -s four.out packed.out || because "other requests (exit code $code: $(head -n 1 err))"
    verdict "a gzipped trace is played like the plain one"
    ask run llama70b-4xh100 --json --set "$load" --set workload.arrival.scale=2 --requests fast.out
    is "$(cut -d , -f 5 fast.out | sed 1d | paste -s -d ' ')" "0.000000000 0.250000000 0.625000000 1.000000000" arrivals
    verdict "a trace played twice as fast"
    ask run llama70b-4xh100 --json --set "$load" --set 'workload.arrival.window=[0.5, 2]' --requests window.out
    is "$(cut -d , -f 3 window.out | sed 1d | paste -s -d ' ')" "200 300" "prompts in the window"
    verdict "a window of a trace"
    ask run llama70b-4xh100 --json --set "$load" --set workload.arrival.jitter=250ms --requests jitter.out
    sed 1d jitter.out | awk -F , '{ late = $5 - ($3 == 100 ? 0 : $3 == 200 ? 0.5 : $3 == 300 ? 1.25 : 2)
        exit !(late > 0 && late < 0.25) }' || because "rows that moved elsewhere"
    judged '.load | endswith("arrivals spread over 250 ms")' out
    verdict "a jittered trace"
    ask run llama70b-4xh100 --json --set "$load" --set workload.requests=3
    judged '.requests.completed == 3' out
    verdict "the first requests of a trace"
}

noted() { # NAME TEXT ARRIVAL
    ask run llama70b-4xh100 --json --set "workload.arrival=$3" --set workload.requests=100
    [ "$code" -le 1 ] || because "exit code $code" # 1: bursts may miss an objective
    grep -qF "$2" err || because "no note that says '$2': $(head -n 1 err)"
    verdict "$1"
}

loads_that_change() {
    bursts='"kind": "modulated", "rate": 3, "burst_factor": 4, "burst_share": 0.25, "burst_length": "9s"'
    noted "a load of few bursts" "about 0.93 bursts" "{$bursts}"
    judged '.load | startswith("bursty arrivals, 3 requests/s: 12 in bursts of 9.00 s, 25 % of the time, and 0 between,")' out
    verdict "bursts in words"
    noted "a load of less than a day" "first period" '{"kind": "daily", "rate": 3, "curve": [1, 4, 1]}'
    judged '.load | startswith("arrivals that follow a curve of 3 slots over 24 h, 3 requests/s and 6 at the peak,")' out
    verdict "a curve in words"
    for key in '"burst_factor": 2' '"burst_share": 0.1' '"burst_length": "2s"' '"curve": [1, 2]' '"period": "1h"' '"jitter": "1s"'; do
        unused=${key%%:*}
        noted "$unused of a poisson load" "workload.arrival.$(echo "$unused" | tr -d '"') is not used" \
            "{\"kind\": \"poisson\", \"rate\": 3, $key}"
    done
    ask run llama70b-4xh100 --json --set workload.arrival='{"kind": "daily", "rate": 3, "curve": [1, 4], "period": "20s"}'
    [ ! -s err ] || because "$(head -n 1 err)"
    verdict "nothing to note about a curve that comes round"
}

judged() { # EXPRESSION FILE
    holds "$2" "$1" || because "not so: $1 (exit code $code: $(head -n 1 err))"
}

# ------------------------------------------------------------------------------------------------- what cannot be written

cannot_write() { # NAME WORDS...
    cannot_name=$1
    shift
    before=$(ls -A)
    ask "$@" --json
    is "$code" 5 "exit code"
    holds out '.error.file | startswith("nosuch/")' || because "--json does not name the file"
    grep -q 'nosuch/' err || because "the message does not name the file"
    is "$(ls -A)" "$before" "files left behind"
    verdict "$cannot_name"
}

full_disk() {
    code=0
    "$program" run k3-8xb300 --json 2>err >/dev/full || code=$?
    is "$code" 5 "exit code"
    grep -q "could not be written" err || because "no message"
    verdict "an answer that cannot be written: exit 5"
}

unwritable() {
    cannot_write "run --requests into no folder" run k3-8xb300 --requests nosuch/requests.csv
    cannot_write "run --db into no folder" run k3-8xb300 --db nosuch/runs.db
    cannot_write "compare --db into no folder" compare k3-8xb300 k3-16xb200 --db nosuch/runs.db
    cannot_write "trace --out into no folder" trace four.csv --out nosuch/trace.csv
    mkdir -p taken/full
    ask run k3-8xb300 --requests taken
    is "$code" 5 "exit code"
    for left in *unfinished*; do
        [ ! -e "$left" ] || because "$left was left behind"
    done
    verdict "run --requests onto a folder: exit 5, nothing left behind"
    ask run k3-8xb300 --requests new.csv --db nosuch/runs.db
    is "$code" 5 "exit code"
    [ ! -e new.csv ] || because "new.csv was written"
    verdict "run --requests beside a --db that fails: all or nothing"
    ask run k3-8xb300 --db ""
    [ "$code" -gt 1 ] || because "exit code $code, nothing saved"
    verdict "--db without a name is refused"
    echo before >real.csv
    ln -s real.csv link.csv
    ask run k3-8xb300 --requests link.csv
    [ -h link.csv ] || because "the link was replaced by a file"
    is "$(head -c 7 real.csv)" request "what the link leads to"
    verdict "run --requests onto a link writes where it leads"
    mkfifo pipe
    cat pipe >piped &
    reader=$!
    ask run k3-8xb300 --requests pipe
    [ -p pipe ] || because "the pipe was replaced by a file"
    [ -p pipe ] || kill "$reader" 2>/dev/null
    wait "$reader" 2>/dev/null
    verdict "run --requests into a pipe leaves it a pipe"
    full_disk
}

# ----------------------------------------------------------------------------------------------------- show and schema

valid() { # NAME WORDS...
    valid_name=$1
    shift
    ask "$@"
    is "$code" 0 "exit code"
    holds out 'type == "object"' || because "no JSON object"
    verdict "$valid_name is JSON"
}

show_and_schema() {
    for name in b300 mi355x b300-nvlink sglang-b300 kimi-k3 gpt-oss-120b k3-1k400 k3-8xb300 llama70b-4xh100 prices; do
        valid "show $name" show $name
    done
    for kind in scenario model accelerator fabric stack mix prices; do
        valid "schema $kind" schema $kind
        holds out '.properties | length > 0' || because "no properties"
        verdict "schema $kind has properties"
    done
    valid schema schema
    ask show k3-8xb300
    cp out shown.json
    ask schema scenario
    compares shown.json out '($a | keys) - ($b.properties | keys) == []' || because "other keys"
    verdict "the schema of a scenario has the keys of one"
}

# Whatever is listed can be shown.
listed_is_shown() {
    keep list.json list --json
    for kind in accelerators fabrics stacks models mixes traces scenarios prices; do
        for name in $(jq -r --arg kind $kind '.[$kind][].name' list.json); do
            "$program" show "$name" >out 2>err || because "$name"
            [ -s out ] || because "$name is empty"
        done
        verdict "every one of the $kind is shown"
    done
}

# Every model under every stack, and shares that make up the whole step.
support_is_listed() {
    keep list.json list --json
    keep support.json list support --json || because "exit code $code"
    is "$(jq '.support | length' support.json)" "$(jq '(.models | length) * (.stacks | length)' list.json)" rows
    is "$(jq '[.support[] | select(.explained) | .measured + .fitted + .transferred + .assumed
        | select((. - 1) * (. - 1) > 1e-18)] | length' support.json)" 0 "rows whose shares do not add up to 1"
    is "$(jq '[.support[] | select(.explained | not) | select(.reason == "")] | length' support.json)" 0 "rows without a reason"
    is "$(jq '[.support[] | select(.stack == "sglang-b300" and .model == "kimi-k3") | .fitted > 0.5] | first' support.json)" \
        true "half of a K3 step on B300 is fitted"
    keep support.csv list support --csv
    is "$(wc -l <support.csv)" "$(($(jq '.support | length' support.json) + 1))" "lines of the CSV"
    verdict "list support names where the numbers are from"
}

first_run
second_run
not_a_database
requests_csv
run_csv
other_csv
markdown
log_lines
words_for_people
trace_files
trace_contents
trace_of_load
trace_runs
loads_that_change
unwritable
show_and_schema
listed_is_shown
support_is_listed
finish
