/* SPDX-License-Identifier: GPL-3.0-or-later
 * fields.h - one table describes a struct: how it is read from JSON, what its JSON Schema is, what its documentation
 * says.  A key that is not in the table, a required key that is missing, a value of the wrong kind, unit or range each
 * become a problem with file, path, what was found and what would do.  Every mistake of a file is reported, not the
 * first alone.
 */
#ifndef RC_FIELDS_H
#define RC_FIELDS_H
#include "arena.h"
#include "json.h"
#include "quantity.h"

typedef struct rc_reader {
    rc_arena *arena; /* strings and lists go here */
    rc_problems *problems;
    /* The file a path lies in, for messages; may be NULL. */
    const char *(*file_of)(const void *context, const char *path);
    const void *context;
} rc_reader;

typedef enum rc_kind {
    RC_FIELD_TEXT,     /* const char *; absent: NULL */
    RC_FIELD_CHOICE,   /* int: index into choices; absent: (int)absent */
    RC_FIELD_BOOL,     /* bool; absent: absent != 0 */
    RC_FIELD_COUNT,    /* double holding a whole number in [low, high]; absent: absent */
    RC_FIELD_NUMBER,   /* double in [low, high]; absent: absent */
    RC_FIELD_QUANTITY, /* double in SI, from a string with a unit, >= 0; absent: absent */
    RC_FIELD_OBJECT,   /* struct of `table`, embedded; absent: zeroed with the table's absents */
    RC_FIELD_LIST,     /* array of structs of `table` in the arena; the length at count_offset */
    RC_FIELD_MAP,      /* as a list, from an object; the first member of the struct is const char * and gets the key */
    RC_FIELD_TEXTS,    /* array of const char *; the length at count_offset */
    RC_FIELD_NUMBERS,  /* array of double; the length at count_offset */
    RC_FIELD_CUSTOM    /* read by `custom` */
} rc_kind;

typedef struct rc_table rc_table;

typedef struct rc_field {
    const char *name;
    rc_kind kind;
    size_t offset;
    const char *doc;
    bool required;
    double absent;    /* value of an optional number that is absent; physical quantities use NAN */
    double low, high; /* range of numbers and counts; both 0: any */
    bool positive;    /* a quantity must be above 0 */
    rc_unit unit;
    const char *const *choices; /* ends with NULL */
    const rc_table *table;
    size_t count_offset;
    bool (*custom)(const cJSON *json, void *target, const char *path, rc_reader *reader);
    const char *custom_schema; /* JSON text */
} rc_field;

struct rc_table {
    const char *title; /* "accelerator" */
    const char *doc;
    size_t size; /* of the struct */
    const rc_field *fields;
    size_t count;
};

/* Defines a table; RC_LOCAL_TABLE one that only its file sees. */
#define RC_TABLE(variable, type, title_text, doc_text, ...)                                                            \
    static const rc_field variable##_fields[] = {__VA_ARGS__};                                                         \
    const rc_table variable = {title_text, doc_text, sizeof(type), variable##_fields,                                  \
                               sizeof variable##_fields / sizeof *variable##_fields}
#define RC_LOCAL_TABLE(variable, type, title_text, doc_text, ...)                                                      \
    static const rc_field variable##_fields[] = {__VA_ARGS__};                                                         \
    static const rc_table variable = {title_text, doc_text, sizeof(type), variable##_fields,                           \
                                      sizeof variable##_fields / sizeof *variable##_fields}

/* Fills `target` (of table->size bytes).  False where at least one problem was added.  `path` is "" at the top. */
/* The same where the program keeps only the first `kept` bytes of what a file's table reads. */
bool rc_read_kept(const rc_table *table, const cJSON *json, void *target, size_t kept, const char *path,
                  rc_reader *reader);
bool rc_read(const rc_table *table, const cJSON *json, void *target, const char *path, rc_reader *reader);
/* Adds a problem at a path; always false, so that `return rc_complain(...)` reads well. */
bool rc_complain(rc_reader *reader, rc_status status, const char *path, const char *found, const char *expected,
                 const char *message);
/* Like rc_complain, with the brief text of `json` as what was found. */
bool rc_complain_value(rc_reader *reader, rc_status status, const char *path, const cJSON *json, const char *expected,
                       const char *message);
/* JSON Schema (draft 2020-12) of a table; the caller deletes it. */
cJSON *rc_table_schema(const rc_table *table);
#endif
