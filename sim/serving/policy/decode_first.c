/* SPDX-License-Identifier: GPL-3.0-or-later
 * Decode first, as vLLM schedules: every running request gets its token in every step; what is left of the step's token
 * budget goes to prompts, first come first served, in chunks.  A step mixes both, so answers slow down a little while
 * prompts are read, and never stop. */
#include "policy.h"
#include "replica.h"

static bool plan(rc_replica *replica) {
    double budget = replica->max_batched_tokens - (double)replica->decoding_count;
    budget = rc_replica_chunk_admitted(replica, budget);
    while (budget > 0 && rc_replica_admit(replica, budget))
        budget = rc_replica_chunk_last(replica, budget);
    return replica->decoding_count > 0;
}

const rc_policy rc_decode_first = {"decode-first",
                                   "every running request decodes in every step; prompts get the rest of the "
                                   "token budget in chunks (vLLM)",
                                   plan};
