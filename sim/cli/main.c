/* SPDX-License-Identifier: GPL-3.0-or-later
 * The program: finds the verb, reads its options, asks the library, prints words to standard error and answers to
 * standard output, and turns the status into an exit code. */
#include "commands.h"
#include <string.h>

static void print_overview(FILE *out) {
    fprintf(out,
            "rackcast %s forecasts what a rack of accelerators does with a large language model.\n\n"
            "usage: rackcast VERB [SCENARIO] [options]\n\n",
            RACKCAST_VERSION);
    for (size_t i = 0; i < rc_commands_count; i++)
        fprintf(out, "  %-9s %s\n", rc_commands[i].name, rc_commands[i].question);
    fprintf(out, "\nrackcast VERB --help shows its options and two examples.\n"
                 "Start with: rackcast compare k3-8xmi355x k3-16xb200 k3-8xb300\n");
}

static void print_help(FILE *out, const rc_command *command) {
    fprintf(out, "rackcast %s: %s\n\nusage: %s\n\noptions\n", command->name, command->question, command->usage);
    rc_options_print(out, command->name);
    fprintf(out, "\nexamples\n  %s\n  %s\n", command->examples[0], command->examples[1]);
}

static const rc_command *find_command(const char *name) {
    for (size_t i = 0; i < rc_commands_count; i++)
        if (strcmp(rc_commands[i].name, name) == 0)
            return &rc_commands[i];
    return NULL;
}

/* Words to standard error; with --json the first problem as an object on standard output too. */
static int finish(rc_status status, rc_format format, rc_problems *problems) {
    if (rc_problems_count(problems) && format == RC_JSON)
        rc_print_problems_json(stdout, problems);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "error: the answer could not be written\n");
        status = RC_WRITE_FAILED;
    }
    rc_print_problems(stderr, problems);
    rc_problems_free(problems);
    return rc_status_exit_code(status);
}

static rc_status refuse_verb(const char *name, rc_problems *problems) {
    const char *names[32];
    char expected[300];
    for (size_t i = 0; i < rc_commands_count; i++)
        names[i] = rc_commands[i].name;
    rc_suggest(expected, sizeof expected, name, names, rc_commands_count);
    return rc_problems_report(problems, RC_USAGE, "", name, expected, "unknown verb");
}

static rc_status refuse_words(const rc_command *command, const rc_options *options, rc_problems *problems) {
    char found[32], expected[300];
    snprintf(found, sizeof found, "%zu", options->words_count);
    snprintf(expected, sizeof expected, "%zu to %zu: %s", command->words_min, command->words_max, command->usage);
    return rc_problems_report(problems, RC_USAGE, "", found, expected, "wrong number of words");
}

static int run_command(const rc_command *command, int count, char **arguments) {
    rc_problems *problems = rc_problems_new();
    rc_options options;
    rc_status status = RC_USAGE;
    if (rc_options_read(&options, command->name, count, arguments, problems)) {
        if (options.help) {
            print_help(stdout, command);
            status = RC_OK;
        } else if (options.words_count < command->words_min || options.words_count > command->words_max)
            status = refuse_words(command, &options, problems);
        else
            status = command->run(&options, problems);
    }
    rc_format format = options.format;
    rc_options_free(&options);
    return finish(status, format, problems);
}

static bool wants_json(int count, char **arguments) {
    for (int i = 1; i < count; i++)
        if (strcmp(arguments[i], "--json") == 0)
            return true;
    return false;
}

int main(int count, char **arguments) {
    const char *verb = count > 1 ? arguments[1] : "";
    bool help = strcmp(verb, "help") == 0 || strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0;
    if (count < 2 || help) {
        print_overview(help ? stdout : stderr);
        return help ? 0 : rc_status_exit_code(RC_USAGE);
    }
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "version") == 0) {
        printf("rackcast %s\n", RACKCAST_VERSION);
        return 0;
    }
    const rc_command *command = find_command(verb);
    if (command)
        return run_command(command, count - 1, arguments + 1);
    rc_problems *problems = rc_problems_new();
    return finish(refuse_verb(verb, problems), wants_json(count, arguments) ? RC_JSON : RC_TERMINAL, problems);
}
