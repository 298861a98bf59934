/* SPDX-License-Identifier: GPL-3.0-or-later
 * json.h - JSON read strictly and written exactly, on top of cJSON.
 * Reading refuses duplicate keys, trailing text, infinite numbers and a letter case that differs.  Writing prints every
 * number with as many digits as bring the same double back.  Objects compare and hash by sorted keys, so the order of
 * keys in a file means nothing.
 * A tree belongs to the caller: cJSON_Delete.
 */
#ifndef RC_JSON_H
#define RC_JSON_H
#include "problems.h"
#include <cjson/cJSON.h>
#include <stdio.h>

/* Reads a whole file; NULL and a problem where that fails.  The text is freed by the caller. */
char *rc_file_read(const char *file, rc_problems *problems);
/* Parses text; `file` is for the messages.  NULL and a problem where it is not strict JSON. */
cJSON *rc_json_parse(const char *text, const char *file, rc_problems *problems);
cJSON *rc_json_load(const char *file, rc_problems *problems);
cJSON *rc_json_get(const cJSON *object, const char *key); /* NULL where absent; letter case counts */
enum { RC_JSON_STEPS_MAX = 16 };
/* Cuts "levels[1].bandwidth" into "levels", "1", "bandwidth", in place; returns how many there are. */
size_t rc_json_split_path(char *path, const char *steps[RC_JSON_STEPS_MAX]);
/* One step down: a member of an object, or a whole number into a list.  NULL where there is none. */
cJSON *rc_json_child(const cJSON *node, const char *step);
/* All steps of a path; NULL where it does not lead anywhere. */
cJSON *rc_json_at(const cJSON *root, const char *path);
/* Text of a tree: keys sorted and no spaces, or in the given order with two spaces of indent.  free() it. */
char *rc_json_canonical(const cJSON *json);
char *rc_json_pretty(const cJSON *json);
/* Copies members of `over` into `base`, objects merged member by member, null removes. */
void rc_json_merge(cJSON *base, const cJSON *over);
/* A short picture of a value for messages: "\"abc\"", "{...}", "12". */
const char *rc_json_brief(char *text, size_t size, const cJSON *json);
/* Helpers for building answers: numbers that are not finite become null. */
void rc_json_add_number(cJSON *object, const char *key, double value);
void rc_json_add_text(cJSON *object, const char *key, const char *value);
void rc_json_add_bool(cJSON *object, const char *key, bool value);
cJSON *rc_json_add_object(cJSON *object, const char *key);
cJSON *rc_json_add_array(cJSON *object, const char *key);
/* Prints the tree prettily with a newline and deletes it. */
void rc_json_print(FILE *out, cJSON *json);
#endif
