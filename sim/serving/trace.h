/* SPDX-License-Identifier: GPL-3.0-or-later
 * trace.h - recorded loads: arrivals and lengths, as a CSV or as JSON lines, plain or gzipped.
 *
 * Columns are found by their header, whatever their order and letter case (the first name of each is Azure's, then ours;
 * input_length is Mooncake's, Request tokens BurstGPT's, prompt_size Splitwise's, input_toks guidellm's):
 *   time    TIMESTAMP, arrival_s, arrival_ms, arrival_us, arrival_ns, arrival, arrived_at, arrival_time_ns, arrival_timestamp
 *   input   ContextTokens, input_tokens, prompt_tokens, prefill_tokens, input_toks, input_length, prompt_size
 *   session session, session_id, conversation_id, chat_id (optional): requests of one continue each other
 *   cached  cached_tokens, prefix_tokens (optional, with a session): how much of its last prompt and answer a prompt repeats
 *   blocks  hash_ids (optional): a list of ids, one for each 512 tokens of the prompt; an id stands for its block and all before
 *   output  GeneratedTokens, output_tokens, completion_tokens, decode_tokens, output_toks, output_length, token_size
 * Times are dates with fractions ("2023-11-16 18:15:46.6805900", T and Z allowed), or numbers whose unit is in the
 * column's name, known of the format (Mooncake ms, BurstGPT and Splitwise s) or given by the caller.  They are kept in whole nanoseconds since the first row, must not run backwards,
 * and are refused where seconds look like milliseconds.  Rows without input or output tokens are counted, not played.
 */
#ifndef RC_TRACE_H
#define RC_TRACE_H
#include "content.h"
#include "index_map.h"
#include "problems.h"
#include "random.h"

typedef struct rc_trace_row {
    int64_t arrival_ns; /* since the first row of the file */
    uint32_t input_tokens, output_tokens;
    uint32_t session;           /* RC_INDEX_NONE: nobody's */
    uint32_t repeats;           /* tokens of its prompt that its session's last prompt and answer began with */
    size_t first_piece, pieces; /* of its prompt's content, among the trace's; none where it says nothing of contents */
} rc_trace_row;

typedef struct rc_trace {
    rc_trace_row *rows;
    size_t count, capacity;
    rc_piece *pieces;
    size_t pieces_count, pieces_capacity;
    double blocks, repeated_blocks; /* of hash_ids: all, and those that an earlier row had */
    double repeated_tokens;         /* of prompts: begun alike by an earlier row, or an earlier turn of its session */
    size_t sessions;
    size_t skipped_zero; /* rows without input or without output tokens */
    int64_t span_ns;     /* from the first row to the last */
    bool dated;          /* times were dates */
} rc_trace;

/* False and a problem with its line where a row is bad.  `time_unit` NULL: from the column's name. */
bool rc_trace_read(const char *file, const char *time_unit, rc_trace *trace, rc_problems *problems);
/* Moves each row on by a uniform draw from [0, jitter_s) and puts the rows into the order of their new times: where a
 * clock ticks coarsely, the requests of one tick came within it, not at once.  Every row draws, in the order of the
 * file. */
void rc_trace_jitter(rc_trace *trace, double jitter_s, rc_random *random);
void rc_trace_free(rc_trace *trace);
/* Writes arrival_s,input_tokens,output_tokens to an open file, and session,cached_tokens or hash_ids where it has them. */
void rc_trace_write(FILE *out, const rc_trace *trace);
#endif
