/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "options.h"
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef enum option_id {
    OPTION_SET = 0,
    OPTION_VARY,
    OPTION_SEED,
    OPTION_JSON,
    OPTION_MARKDOWN,
    OPTION_CSV,
    OPTION_LOG,
    OPTION_MODEL,
    OPTION_ON,
    OPTION_STACK,
    OPTION_FABRIC,
    OPTION_TP,
    OPTION_PP,
    OPTION_EP,
    OPTION_DP,
    OPTION_DCP,
    OPTION_WEIGHTS,
    OPTION_BATCH,
    OPTION_CONTEXT,
    OPTION_PROMPT,
    OPTION_OUT,
    OPTION_SOURCE,
    OPTION_KERNEL,
    OPTION_RECIPES,
    OPTION_REQUESTS,
    OPTION_DB,
    OPTION_NAME,
    OPTION_UNIT,
    OPTION_STEPWISE,
    OPTION_TIMING,
    OPTION_HELP,
    OPTION_COUNT
} option_id;

/* `verbs`: the verbs that take it, with spaces around each; "" means all. */
static const struct {
    const char *name, *value, *setting, *verbs, *doc;
} table[OPTION_COUNT] = {
    [OPTION_SET] = {"set", "PATH=VALUE", NULL, " run fit explain compare whatif trace ",
                    "change anything; VALUE is JSON or plain text, null removes"},
    [OPTION_VARY] = {"vary", "PATH=A,B,C", NULL, " whatif ",
                     "the values to try; x2 is twice what is there; several paths vary together"},
    [OPTION_SEED] = {"seed", "N", "seed", " run compare whatif trace ", "seed of all random numbers"},
    [OPTION_JSON] = {"json", NULL, NULL, "", "the answer as JSON in SI units"},
    [OPTION_MARKDOWN] = {"markdown", NULL, NULL, " run fit explain compare whatif validate ", "tables as Markdown"},
    [OPTION_CSV] = {"csv", NULL, NULL, " run fit explain compare whatif list validate ", "tables as CSV"},
    [OPTION_LOG] = {"log", NULL, NULL, " run fit ", "the log lines an engine prints at start"},
    [OPTION_MODEL] = {"model", "NAME", "model", " run fit explain compare whatif ", "the model, by name or file"},
    [OPTION_ON] = {"on", "8xb300", "hardware", " run fit explain compare whatif ", "the rack: count and accelerator"},
    [OPTION_STACK] = {"stack", "NAME", "hardware.stack", " run fit explain compare whatif calibrate ",
                      "the serving stack"},
    [OPTION_FABRIC] = {"fabric", "NAME", "hardware.fabric", " run fit explain compare whatif ", "what joins the GPUs"},
    [OPTION_TP] = {"tp", "N", "parallel.tp", " run fit explain compare whatif ", "tensor parallel"},
    [OPTION_PP] = {"pp", "N", "parallel.pp", " run fit explain compare whatif ", "pipeline stages"},
    [OPTION_EP] = {"ep", "N", "parallel.ep", " run fit explain compare whatif ", "expert parallel"},
    [OPTION_DP] = {"dp", "N", "parallel.dp", " run fit explain compare whatif ", "copies of attention"},
    [OPTION_DCP] = {"dcp", "N", "parallel.dcp", " run fit explain compare whatif ", "decode context parallel"},
    [OPTION_WEIGHTS] = {"weights", "FORMAT", "weights", " run fit explain compare whatif ",
                        "checkpoint, bf16, fp8, fp8-tensor, nvfp4, mxfp4 or int4"},
    [OPTION_BATCH] = {"batch", "N", NULL, " explain ", "sequences of the step"},
    [OPTION_CONTEXT] = {"context", "N", NULL, " explain fit ",
                        "cached tokens of each sequence; for fit the longest request"},
    [OPTION_PROMPT] = {"prompt", "N", NULL, " explain ", "tokens of the prompt that is explained"},
    [OPTION_OUT] = {"out", "FILE", NULL, " import trace calibrate ",
                    "write the model file, the trace in our own format, the stack"},
    [OPTION_SOURCE] = {"source", "TEXT", NULL, " calibrate ",
                       "where the tables come from, written beside each fitted family"},
    [OPTION_KERNEL] = {"kernel", "TEXT", NULL, " calibrate ",
                       "where a family has several kernels, the one with TEXT in its name goes into the stack"},
    [OPTION_RECIPES] = {"recipes", "FILE", NULL, " validate ",
                        "how the measured engines were launched; those that ship if left out"},
    [OPTION_REQUESTS] = {"requests", "FILE", NULL, " run ", "write every request with its times as CSV"},
    [OPTION_DB] = {"db", "FILE", NULL, " run compare ", "add the run to a SQLite file"},
    [OPTION_NAME] = {"name", "NAME", NULL, " import ", "name of the model"},
    [OPTION_UNIT] = {"unit", "s|ms|us|ns", NULL, " trace ", "unit of times whose column does not say"},
    [OPTION_STEPWISE] = {"stepwise", NULL, NULL, " run compare ", "play every step (the slow reference)"},
    [OPTION_TIMING] = {"timing", NULL, NULL, " run ", "say how long simulating took"},
    [OPTION_HELP] = {"help", NULL, NULL, "", "this"},
};

static bool takes(const char *verb, int id) {
    char word[32];
    snprintf(word, sizeof word, " %s ", verb);
    return !table[id].verbs[0] || strstr(table[id].verbs, word);
}

void rc_options_print(FILE *out, const char *verb) {
    for (int id = 0; id < OPTION_COUNT; id++) {
        char left[48];
        snprintf(left, sizeof left, "--%s%s%s", table[id].name, table[id].value ? " " : "",
                 table[id].value ? table[id].value : "");
        if (takes(verb, id))
            fprintf(out, "  %-22s %s\n", left, table[id].doc);
    }
}

enum { FIRST_CODE = 256 }; /* getopt's codes of options: above every character and above 1, which is a plain word */

static bool complain(rc_problems *problems, const char *found, const char *expected, const char *message) {
    rc_problems_report(problems, RC_USAGE, "", found, expected, message);
    return false;
}

static bool add_setting(rc_options *options, const char *path, const char *value, rc_problems *problems) {
    if (options->settings_count == RC_SETTINGS_MAX)
        return complain(problems, value, "at most 128 settings", "too many settings");
    size_t bytes = strlen(path) + strlen(value) + 2;
    char *setting = malloc(bytes);
    if (!setting)
        return complain(problems, value, "", "out of memory");
    snprintf(setting, bytes, path[0] ? "%s=%s" : "%s%s", path, value);
    options->settings[options->settings_count++] = setting;
    return true;
}

static bool add_varied(rc_options *o, const char *text, rc_problems *problems) {
    if (o->varied_count == RC_VARIED_MAX)
        return complain(problems, text, "at most 8 paths that vary together", "too many paths");
    o->varied[o->varied_count++] = text;
    return true;
}

static bool complain_unknown(const char *verb, const char *word, rc_problems *problems) {
    const char *names[OPTION_COUNT];
    char dashed[OPTION_COUNT][24], expected[500];
    size_t count = 0;
    for (int id = 0; id < OPTION_COUNT; id++)
        if (takes(verb, id)) {
            snprintf(dashed[count], sizeof dashed[count], "--%s", table[id].name);
            names[count] = dashed[count];
            count++;
        }
    rc_suggest(expected, sizeof expected, word, names, count);
    return complain(problems, word, expected, "unknown option");
}

static bool read_count(const char *text, double *value, rc_problems *problems) {
    char *end;
    *value = strtod(text, &end);
    bool good = end != text && !*end && *value > 0 && *value <= 1e12;
    return good || complain(problems, text, "a number above 0", "not a number that would do");
}

/* Applies one option; short ones that are settings go into the first pass, --set into the second. */
static bool apply(rc_options *o, const char *verb, int id, const char *value, int pass, rc_problems *problems) {
    bool calibrate = strcmp(verb, "calibrate") == 0; /* its stack is where it starts, no setting */
    bool setting = id == OPTION_SET || (table[id].setting && !calibrate);
    if (setting ? (id == OPTION_SET) != (pass == 2) : pass == 2)
        return true;
    if (value && !*value)
        return complain(problems, "an empty text", "a value", "an option without its value");
    if (setting)
        return add_setting(o, id == OPTION_SET ? "" : table[id].setting, value, problems);
    switch (id) {
    case OPTION_VARY: return add_varied(o, value, problems);
    case OPTION_JSON: o->format = RC_JSON; break;
    case OPTION_MARKDOWN: o->format = RC_MARKDOWN; break;
    case OPTION_CSV: o->format = RC_CSV; break;
    case OPTION_LOG: o->format = RC_LOG; break;
    case OPTION_BATCH: return read_count(value, &o->batch, problems);
    case OPTION_PROMPT: return read_count(value, &o->prompt, problems);
    case OPTION_CONTEXT:
        return strcmp(verb, "fit") == 0 ? add_setting(o, "engine.max_context", value, problems)
                                        : read_count(value, &o->context, problems);
    case OPTION_STACK: o->stack = value; break;
    case OPTION_SOURCE: o->source = value; break;
    case OPTION_KERNEL: o->kernel = value; break;
    case OPTION_RECIPES: o->recipes = value; break;
    case OPTION_OUT: o->out_file = value; break;
    case OPTION_REQUESTS: o->requests_file = value; break;
    case OPTION_DB: o->database_file = value; break;
    case OPTION_NAME: o->name = value; break;
    case OPTION_UNIT: o->time_unit = value; break;
    case OPTION_STEPWISE: o->stepwise = true; break;
    case OPTION_TIMING: o->timing = true; break;
    case OPTION_HELP: o->help = true; break;
    }
    return true;
}

static bool read_word(rc_options *o, const char *word, int pass, rc_problems *problems) {
    if (pass == 2)
        return true;
    if (o->words_count == RC_WORDS_MAX)
        return complain(problems, word, "at most 32 words", "too many words");
    o->words[o->words_count++] = word;
    return true;
}

static bool read_pass(rc_options *o, const char *verb, int count, char **arguments, int pass, rc_problems *problems) {
    struct option list[OPTION_COUNT + 1];
    for (int id = 0; id < OPTION_COUNT; id++)
        list[id] =
            (struct option){table[id].name, table[id].value ? required_argument : no_argument, NULL, FIRST_CODE + id};
    list[OPTION_COUNT] = (struct option){0};
    optind = 0; /* start afresh */
    opterr = 0;
    for (int code; (code = getopt_long(count, arguments, "-:", list, NULL)) != -1;) {
        int id = code - FIRST_CODE;
        bool good = true;
        if (code == ':')
            good = complain(problems, arguments[optind - 1], "a value behind it", "an option without its value");
        else if (code == '?')
            good = complain_unknown(verb, arguments[optind - 1], problems);
        else if (code == 1)
            good = read_word(o, optarg, pass, problems);
        else
            good = takes(verb, id) ? apply(o, verb, id, optarg, pass, problems)
                                   : complain_unknown(verb, table[id].name, problems);
        if (!good)
            return false;
    }
    return true;
}

bool rc_options_read(rc_options *options, const char *verb, int count, char **arguments, rc_problems *problems) {
    *options = (rc_options){.format = RC_TERMINAL};
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--json") == 0)
            options->format = RC_JSON; /* also for the words about what is wrong */
    return read_pass(options, verb, count, arguments, 1, problems) &&
           read_pass(options, verb, count, arguments, 2, problems);
}

void rc_options_free(rc_options *options) {
    for (size_t i = 0; i < options->settings_count; i++)
        free(options->settings[i]);
}
