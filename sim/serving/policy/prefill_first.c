/* SPDX-License-Identifier: GPL-3.0-or-later
 * Prefill first, as SGLang schedules: while a prompt can be worked on, a step holds prompts alone, up to the token budget;
 * running requests wait.  Prompts are read as fast as the rack can, and answers pause meanwhile. */
#include "policy.h"
#include "replica.h"

static bool plan(rc_replica *replica) {
    double budget = rc_replica_chunk_admitted(replica, replica->max_batched_tokens);
    while (budget > 0 && rc_replica_admit(replica, budget))
        budget = rc_replica_chunk_last(replica, budget);
    return replica->chunks_tokens == 0 && replica->decoding_count > 0;
}

const rc_policy rc_prefill_first = {"prefill-first", "prompts are worked on before running requests decode (SGLang)",
                                    plan};
