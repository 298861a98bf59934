/* SPDX-License-Identifier: GPL-3.0-or-later
 * draft.h - speculation: a small model drafts tokens, the large one verifies them all in one step.
 *
 * A step brings 1 + accepted tokens a sequence.  How many drafts are accepted is told by the chance that at least j of them
 * are, j = 1..K ("survival"); its sum plus one is the acceptance length.  It comes from a list of the draft for a kind of
 * content (lengths measured with 1, 2, ... drafts: survival is their difference), from one length L measured with so many drafts
 * (each is accepted with the same chance p once those before were: 1 + p + ... + p^K = L), or from the question.
 */
#ifndef RC_DRAFT_H
#define RC_DRAFT_H
#include "model.h"

enum { RC_DRAFT_TOKENS_MAX = 64 };

/* Acceptance measured on a kind of content. */
typedef struct rc_acceptance {
    const char *content; /* "coding" */
    double *lengths;     /* with 1, 2, ... drafts; NULL: one length for `tokens` drafts */
    size_t lengths_count;
    double tokens, length;
} rc_acceptance;

typedef struct rc_draft {
    const char *name, *title;
    rc_model model;      /* its layers; the target's embedding and output head serve both */
    bool block;          /* all drafts in one pass; else a pass for each */
    bool replicated;     /* every rank holds its weights whole; else they are split as the target's */
    double taps;         /* layers of the target whose outputs it reads, joined by a matrix; 0: none */
    double extra_values; /* weights beside the layers, as those of a Markov head */
    rc_acceptance *acceptances;
    size_t acceptances_count;
} rc_draft;

typedef struct rc_speculation {
    rc_draft draft;
    double tokens; /* drafts of a step; 0: no speculation */
    double survival[RC_DRAFT_TOKENS_MAX];
    bool pinned; /* acceptance does not vary: every sequence goes on at the mean, as benchmarks that simulate it do */
    const char *acceptance; /* what it was read from, in words */
} rc_speculation;

extern const rc_table rc_draft_table;
bool rc_speculation_read(const cJSON *json, void *target, const char *path, rc_reader *reader); /* a custom field */

/* Checks that the draft goes with the model. */
bool rc_speculation_finish(rc_speculation *speculation, const rc_model *target, rc_reader *reader);
double rc_speculation_length(const rc_speculation *speculation);   /* tokens of a step and sequence, mean; 1 without */
double rc_speculation_variance(const rc_speculation *speculation); /* of the same */
#endif
