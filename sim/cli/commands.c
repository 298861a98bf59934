/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "commands.h"
#include <stdlib.h>
#include <string.h>

static rc_scenario *open_scenario(const rc_options *o, size_t word, rc_problems *problems) {
    rc_question question = {.scenario = word < o->words_count ? o->words[word] : NULL,
                            .settings = (const char *const *)o->settings,
                            .settings_count = o->settings_count};
    return rc_open(&question, problems);
}

static rc_status first_status(const rc_problems *problems) {
    return rc_problems_count(problems) ? rc_problems_at(problems, 0)->status
                                       : RC_INTERNAL; /* it failed without a word */
}

static rc_status run(const rc_options *o, rc_problems *problems) {
    rc_scenario *scenario = open_scenario(o, 0, problems);
    if (!scenario)
        return first_status(problems);
    rc_run_options how = {.stepwise = o->stepwise};
    rc_run_result *result = calloc(1, sizeof *result);
    rc_status status = result ? rc_run(scenario, &how, result, problems) : RC_INTERNAL;
    rc_status saved = RC_OK;
    if (status == RC_OK || status == RC_OBJECTIVE_MISSED)
        saved = rc_save_run(o->database_file, o->requests_file, scenario, result, problems);
    if (saved == RC_OK && rc_problems_count(problems) == 0)
        rc_print_run(stdout, result, o->format, o->timing);
    if (result)
        rc_run_result_free(result);
    free(result);
    rc_close(scenario);
    return saved == RC_OK ? status : saved;
}

static rc_status fit(const rc_options *o, rc_problems *problems) {
    rc_scenario *scenario = open_scenario(o, 0, problems);
    if (!scenario)
        return first_status(problems);
    rc_fit_result *result = calloc(1, sizeof *result);
    rc_status status = result ? rc_fit(scenario, result, problems) : RC_INTERNAL;
    if (result)
        rc_print_fit(stdout, result, o->format);
    free(result);
    rc_close(scenario);
    return status;
}

static rc_status explain(const rc_options *o, rc_problems *problems) {
    rc_scenario *scenario = open_scenario(o, 0, problems);
    if (!scenario)
        return first_status(problems);
    rc_explain_result *result = calloc(1, sizeof *result);
    rc_status status = result ? rc_explain(scenario, o->batch, o->context, o->prompt, result, problems) : RC_INTERNAL;
    if (result && rc_problems_count(problems) == 0)
        rc_print_explain(stdout, result, o->format);
    free(result);
    rc_close(scenario);
    return status;
}

static rc_status compare_one(rc_scenario *scenario, const rc_options *o, rc_run_result *result, rc_problems *problems) {
    rc_run_options how = {.stepwise = o->stepwise};
    return scenario ? rc_run(scenario, &how, result, problems) : first_status(problems);
}

/* Nothing is saved unless every scenario could be played. */
static rc_status save_all(const rc_options *o, rc_scenario *const *scenarios, const rc_run_result *results,
                          rc_problems *problems) {
    rc_status status = RC_OK;
    for (size_t i = 0; o->database_file && status == RC_OK && i < o->words_count; i++)
        if (results[i].fits)
            status = rc_save_run(o->database_file, NULL, scenarios[i], &results[i], problems);
    return status;
}

static rc_status compare(const rc_options *o, rc_problems *problems) {
    rc_run_result *results = calloc(o->words_count, sizeof *results);
    rc_scenario *scenarios[RC_WORDS_MAX] = {0};
    rc_status status = results ? RC_OK : RC_INTERNAL;
    size_t fitting = 0;
    for (size_t i = 0; i < o->words_count && results; i++) {
        scenarios[i] = open_scenario(o, i, problems);
        rc_status one = compare_one(scenarios[i], o, &results[i], problems);
        fitting += one == RC_OK || one == RC_OBJECTIVE_MISSED;
        if (one != RC_OK && one != RC_DOES_NOT_FIT)
            status = one;
    }
    if (rc_problems_count(problems) == 0 && results && save_all(o, scenarios, results, problems) == RC_OK)
        rc_print_compare(stdout, results, o->words_count, o->format);
    for (size_t i = 0; i < o->words_count && results; i++) {
        rc_run_result_free(&results[i]);
        rc_close(scenarios[i]);
    }
    free(results);
    if (rc_problems_count(problems))
        return first_status(problems);
    return fitting ? status : RC_DOES_NOT_FIT;
}

static rc_status whatif(const rc_options *o, rc_problems *problems) {
    rc_whatif_question question = {.scenario = {.scenario = o->words_count ? o->words[0] : NULL,
                                                .settings = (const char *const *)o->settings,
                                                .settings_count = o->settings_count},
                                   .varied = o->varied,
                                   .varied_count = o->varied_count};
    rc_whatif_result *result = calloc(1, sizeof *result);
    rc_status status = result ? rc_whatif(&question, result, problems) : RC_INTERNAL;
    if (result && rc_problems_count(problems) == 0)
        rc_print_whatif(stdout, result, o->format);
    if (result)
        rc_whatif_result_free(result);
    free(result);
    return status;
}

static rc_status validate(const rc_options *o, rc_problems *problems) {
    rc_validate_result result;
    rc_status status = rc_validate(o->words[0], o->recipes, &result, problems);
    if (status == RC_OK)
        rc_print_validate(stdout, &result, o->format);
    rc_validate_result_free(&result);
    return status;
}

static rc_status calibrate(const rc_options *o, rc_problems *problems) {
    rc_calibrate_result result;
    if (!o->stack)
        return rc_problems_report(problems, RC_USAGE, "--stack", "nothing",
                                  "the name of a stack, as --stack sglang-b300", "a calibration starts from a stack");
    rc_calibrate_question question = {.tables = o->words,
                                      .tables_count = o->words_count,
                                      .stack = o->stack,
                                      .out_file = o->out_file,
                                      .source = o->source,
                                      .kernel = o->kernel};
    rc_status status = rc_calibrate(&question, &result, problems);
    if (status == RC_OK)
        rc_print_calibrate(stdout, &result, o->format);
    rc_calibrate_result_free(&result);
    return status;
}

static rc_status import(const rc_options *o, rc_problems *problems) {
    return rc_import(o->words[0], o->name, o->out_file, stdout, o->format, problems);
}

static rc_status trace(const rc_options *o, rc_problems *problems) {
    rc_trace_question question = {.name = o->words[0],
                                  .time_unit = o->time_unit,
                                  .out_file = o->out_file,
                                  .settings = (const char *const *)o->settings,
                                  .settings_count = o->settings_count};
    return rc_describe_trace(&question, stdout, o->format, problems);
}

static rc_status list_support(const rc_options *o, rc_problems *problems) {
    rc_support_result result;
    rc_status status = rc_support(&result, problems);
    if (status == RC_OK)
        rc_print_support(stdout, &result, o->format);
    rc_support_result_free(&result);
    return status;
}

static rc_status list(const rc_options *o, rc_problems *problems) {
    if (o->words_count && strcmp(o->words[0], "support") == 0)
        return list_support(o, problems);
    return rc_list(o->words_count ? o->words[0] : NULL, stdout, o->format, problems);
}

static rc_status show(const rc_options *o, rc_problems *problems) {
    return rc_show(o->words[0], stdout, o->format, problems);
}

static rc_status schema(const rc_options *o, rc_problems *problems) {
    return rc_schema(o->words_count ? o->words[0] : "scenario", stdout, problems);
}

const rc_command rc_commands[] = {
    {"run",
     "how fast, how soon, how dear?",
     "rackcast run SCENARIO [--set PATH=VALUE]...",
     {"rackcast run k3-8xb300", "rackcast run k3-8xb300-8k1k --set workload.arrival.clients=16 --json"},
     0,
     1,
     run},
    {"fit",
     "does it fit, and how many requests?",
     "rackcast fit [SCENARIO] [--model NAME --on 8xb300 --tp 8]",
     {"rackcast fit --model kimi-k3 --on 8xb300 --tp 8", "rackcast fit k3-8xmi355x --log"},
     0,
     1,
     fit},
    {"explain",
     "why is a step this long?",
     "rackcast explain [SCENARIO] [--model NAME --on 8xb300 --tp 8] [--batch N --context N]",
     {"rackcast explain --model kimi-k3 --on 8xb300 --tp 8 --batch 16 --context 8700",
      "rackcast explain k3-8xb300-8k1k --batch 1"},
     0,
     1,
     explain},
    {"compare",
     "which rack?",
     "rackcast compare SCENARIO SCENARIO...",
     {"rackcast compare k3-8xmi355x k3-16xb200 k3-8xb300", "rackcast compare k3-8xb300 k3-16xb200 --json"},
     1,
     RC_WORDS_MAX,
     compare},
    {"whatif",
     "what does this one change do?",
     "rackcast whatif SCENARIO --vary PATH=A,B,C [--set PATH=VALUE]...",
     {"rackcast whatif k3-8xb300 --vary hardware.accelerator.memory_bandwidth=x0.5,x2",
      "rackcast whatif k3-nvl72 --vary parallel.tp=8,16 --vary parallel.replicas=9,4 --vary hardware.count=72,64"},
     0,
     1,
     whatif},
    {"validate",
     "can I trust it?",
     "rackcast validate TABLE.csv",
     {"rackcast validate k3-published", "rackcast validate made-up-kernels"},
     1,
     1,
     validate},
    {"calibrate",
     "my own measurements",
     "rackcast calibrate TABLE.csv... --stack NAME [--out STACK.json]",
     {"rackcast calibrate made-up-kernels --stack sglang-b300",
      "rackcast calibrate made-up-kernels --stack sglang-b300 --json"},
     1,
     RC_WORDS_MAX,
     calibrate},
    {"import",
     "a Hugging Face config.json",
     "rackcast import CONFIG.json [--name NAME] [--out MODEL.json]",
     {"rackcast import config.json", "rackcast import config.json --name my-model --out my-model.json"},
     1,
     1,
     import},
    {"trace",
     "what is in this trace?",
     "rackcast trace FILE.csv | MIX | SCENARIO [--unit ms] [--set PATH=VALUE]... [--out OURS.csv]",
     {"rackcast trace k3-chat-1000", "rackcast trace k3-agentic --set workload.requests=100"},
     1,
     1,
     trace},
    {"list",
     "what is there?",
     "rackcast list [hardware | accelerators | fabrics | stacks | models | mixes | traces | scenarios | prices | "
     "policies | measurements | support]",
     {"rackcast list hardware", "rackcast list scenarios --json"},
     0,
     1,
     list},
    {"show",
     "one data file, includes expanded",
     "rackcast show NAME",
     {"rackcast show b300", "rackcast show kimi-k3"},
     1,
     1,
     show},
    {"schema",
     "the JSON Schema of a kind of file",
     "rackcast schema [scenario | model | accelerator | fabric | stack | mix | prices]",
     {"rackcast schema scenario", "rackcast schema accelerator"},
     0,
     1,
     schema},
};
const size_t rc_commands_count = sizeof rc_commands / sizeof *rc_commands;
