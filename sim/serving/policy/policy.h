/* SPDX-License-Identifier: GPL-3.0-or-later
 * policy.h - what a scheduler decides: which prompts a step works on, and whether running requests decode in it.
 *
 * A policy is one const table, listed in policies.c.  At the end of a step it is asked for the next: it admits waiting
 * requests with rc_replica_admit, gives prompts their chunk with rc_replica_chunk_admitted and
 * rc_replica_chunk_last, and says whether decodes take part.
 * It must not look at anything but the replica.
 */
#ifndef RC_POLICY_H
#define RC_POLICY_H
#include <stdbool.h>

typedef struct rc_replica rc_replica;

typedef struct rc_policy {
    const char *name, *doc;
    /* Plans the next step; returns whether running requests decode in it. */
    bool (*plan)(rc_replica *replica);
} rc_policy;

const rc_policy *rc_policy_find(const char *name); /* NULL: no such policy */
extern const rc_policy *const rc_policies[];       /* ends with NULL */
extern const rc_policy rc_decode_first, rc_prefill_first;
#endif
