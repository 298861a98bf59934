/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "problems.h"
#include "arena.h"
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct rc_problems {
    rc_arena *arena;
    rc_problem *problems;
    size_t count, capacity;
    char **notes;
    size_t notes_count, notes_capacity;
};

rc_problems *rc_problems_new(void) {
    rc_problems *problems = rc_allocate(sizeof *problems);
    problems->arena = rc_arena_new();
    return problems;
}

void rc_problems_free(rc_problems *problems) {
    if (!problems)
        return;
    rc_arena_free(problems->arena);
    free(problems->problems);
    free(problems->notes);
    free(problems);
}

size_t rc_problems_count(const rc_problems *problems) {
    return problems->count;
}

const rc_problem *rc_problems_at(const rc_problems *problems, size_t index) {
    assert(index < problems->count);
    return &problems->problems[index];
}

size_t rc_notes_count(const rc_problems *problems) {
    return problems->notes_count;
}

const char *rc_notes_at(const rc_problems *problems, size_t index) {
    assert(index < problems->notes_count);
    return problems->notes[index];
}

rc_status rc_problems_status(const rc_problems *problems) {
    return problems->count ? problems->problems[0].status : RC_OK;
}

static char *format_text(rc_arena *arena, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = rc_arena_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

rc_status rc_problem_add(rc_problems *problems, rc_status status, const char *file, const char *path, long line,
                         const char *found, const char *expected, const char *format, ...) {
    rc_arena *arena = problems->arena;
    problems->problems = rc_grow(problems->problems, problems->count, &problems->capacity, sizeof *problems->problems);
    va_list arguments;
    va_start(arguments, format);
    problems->problems[problems->count++] = (rc_problem){
        .status = status,
        .file = rc_arena_text(arena, file ? file : ""),
        .path = rc_arena_text(arena, path ? path : ""),
        .line = line,
        .found = rc_arena_text(arena, found ? found : ""),
        .expected = rc_arena_text(arena, expected ? expected : ""),
        .message = format_text(arena, format, arguments),
    };
    va_end(arguments);
    return status;
}

rc_status rc_problems_report(rc_problems *problems, rc_status status, const char *path, const char *found,
                             const char *expected, const char *message) {
    return rc_problem_add(problems, status, "", path, 0, found, expected, "%s", message);
}

void rc_note_add(rc_problems *problems, const char *format, ...) {
    problems->notes = rc_grow(problems->notes, problems->notes_count, &problems->notes_capacity, sizeof(char *));
    va_list arguments;
    va_start(arguments, format);
    problems->notes[problems->notes_count++] = format_text(problems->arena, format, arguments);
    va_end(arguments);
}

static bool begins_with_key(const char *path, const char *const *keys, size_t count) {
    size_t length = strcspn(path, ".[");
    for (size_t i = 0; i < count; i++)
        if (strlen(keys[i]) == length && strncmp(path, keys[i], length) == 0)
            return true;
    return false;
}

size_t rc_problems_prefix(rc_problems *problems, size_t first, const char *prefix, const char *const *keys,
                          size_t keys_count) {
    size_t others = 0;
    for (size_t i = first; i < problems->count; i++) {
        rc_problem *p = &problems->problems[i];
        if (begins_with_key(p->path, keys, keys_count))
            p->path = rc_arena_format(problems->arena, "%s%s", prefix, p->path);
        else
            others++;
    }
    return others;
}
