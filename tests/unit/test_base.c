/* SPDX-License-Identifier: GPL-3.0-or-later
 * Quantities, JSON, tables, text, histograms, hashes. */
#include "asking.h"
#include "csv.h"
#include "fields.h"
#include "hash.h"
#include "histogram.h"
#include "random.h"
#include "text.h"
#include <unistd.h>

static double quantity(const char *text, rc_unit unit) {
    double value = NAN;
    rc_quantity_parse(text, unit, &value);
    return value;
}

START_TEST(capacities_have_three_ways_to_be_written) {
    ck_assert_double_eq(quantity("288GB", RC_BYTES), 288e9);
    ck_assert_double_eq_tol(quantity("268.2GiB", RC_BYTES), 288e9, 288e9 * 1e-3);
    ck_assert_double_eq_tol(quantity("274658MiB", RC_BYTES), 288e9, 288e9 * 1e-3);
    ck_assert_double_eq_tol(quantity("32.6GiB", RC_BYTES), 35e9, 35e9 * 1e-3);
    ck_assert_double_eq(quantity("183359MiB", RC_BYTES), 183359. * 1048576);
}
END_TEST

START_TEST(units_are_read) {
    ck_assert_double_eq(quantity("7.75TB/s", RC_BYTES_PER_S), 7.75e12);
    ck_assert_double_eq(quantity("195Gb/s", RC_BYTES_PER_S), 24.375e9);
    ck_assert_double_eq(quantity("2.25PFLOP/s", RC_FLOPS_PER_S), 2.25e15);
    ck_assert_double_eq_tol(quantity("5.7us", RC_SECONDS), 5.7e-6, 1e-18);
    ck_assert_double_eq(quantity("1.5 h", RC_SECONDS), 5400);
    ck_assert_double_eq(quantity("$2.50/h", RC_USD_PER_HOUR), 2.5);
    ck_assert_double_eq(quantity("1.1kW", RC_WATTS), 1100);
    ck_assert_double_eq(quantity("120/min", RC_PER_SECOND), 2);
}
END_TEST

START_TEST(what_is_no_quantity_is_refused) {
    static const char *const bad[] = {"288",   "GB",   "-3GB",  "0x10GB", "1e999GB", "nanGB",  "288gb ",
                                      "8TB/s", "3 XB", "3TiTB", "",       "1..2GB",  "5 G i B"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 2.385;
        ck_assert_msg(!rc_quantity_parse(bad[i], RC_BYTES, &value), "\"%s\" was read", bad[i]);
        ck_assert_double_eq(value, 2.385);
    }
    double value;
    ck_assert(!rc_quantity_parse("2.50/h", RC_USD_PER_HOUR, &value));
    ck_assert(!rc_quantity_parse("8TB", RC_BYTES_PER_S, &value));
    ck_assert(!rc_quantity_parse("5kus", RC_SECONDS, &value));
}
END_TEST

START_TEST(numbers_are_written_for_people) {
    char text[40];
    ck_assert_str_eq(rc_number_text(text, sizeof text, 1234567.8), "1,234,568");
    ck_assert_str_eq(rc_number_text(text, sizeof text, 12.345), "12.3");
    ck_assert_str_eq(rc_number_text(text, sizeof text, 0.012345), "0.0123");
    ck_assert_str_eq(rc_number_text(text, sizeof text, NAN), "-");
    ck_assert_str_eq(rc_quantity_text(text, sizeof text, 7.75e12, RC_BYTES_PER_S), "7.75 TB/s");
    ck_assert_str_eq(rc_quantity_text(text, sizeof text, 0.378, RC_SECONDS), "378 ms");
    ck_assert_str_eq(rc_count_text(text, sizeof text, -12345), "-12,345");
}
END_TEST

START_TEST(a_typing_mistake_is_understood) {
    static const char *const names[] = {"memory_fraction", "max_running", "policy"};
    ck_assert_str_eq(rc_did_you_mean("memmory_fraction", names, 3), "memory_fraction");
    ck_assert_str_eq(rc_did_you_mean("Policy", names, 3), "policy");
    ck_assert_ptr_null(rc_did_you_mean("colour", names, 3));
}
END_TEST

static cJSON *parse(const char *text, size_t *mistakes) {
    rc_problems *problems = rc_problems_new();
    cJSON *json = rc_json_parse(text, "test.json", problems);
    *mistakes = rc_problems_count(problems);
    rc_problems_free(problems);
    return json;
}

START_TEST(json_is_read_strictly) {
    static const char *const bad[] = {"{\"a\": 1,}",
                                      "{\"a\": 1, \"a\": 2}",
                                      "{\"a\": 1} x",
                                      "{\"a\": 1e999}",
                                      "{a: 1}",
                                      "",
                                      "{\"a\": {\"b\": 1, \"b\": 1}}",
                                      "[1, 2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t mistakes;
        ck_assert_msg(!parse(bad[i], &mistakes), "%s was read", bad[i]);
        ck_assert_uint_eq(mistakes, 1);
    }
}
END_TEST

START_TEST(json_brings_every_number_back) {
    static const double numbers[] = {0.1 + 0.2, 2.385, 1e-300, 1560860324864, 9007199254740991, -0.0, 1. / 3};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        cJSON *json = cJSON_CreateNumber(numbers[i]);
        char *text = rc_json_canonical(json);
        ck_assert_double_eq(strtod(text, NULL), numbers[i]);
        free(text);
        cJSON_Delete(json);
    }
}
END_TEST

START_TEST(json_with_shuffled_keys_is_the_same) {
    size_t mistakes;
    cJSON *a = parse("{\"b\": [1, {\"y\": 2, \"x\": \"q\\\"\"}], \"a\": null}", &mistakes);
    cJSON *b = parse("{\"a\": null, \"b\": [1, {\"x\": \"q\\\"\", \"y\": 2}]}", &mistakes);
    char *first = rc_json_canonical(a), *second = rc_json_canonical(b);
    ck_assert_str_eq(first, second);
    free(first);
    free(second);
    cJSON_Delete(a);
    cJSON_Delete(b);
}
END_TEST

typedef struct cup {
    const char *name;
    double volume_bytes, handles, glaze;
    bool full;
} cup;
RC_LOCAL_TABLE(cup_table, cup, "cup", "A cup.",
               {"name", RC_FIELD_TEXT, offsetof(cup, name), "its name", .required = true},
               {"volume", RC_FIELD_QUANTITY, offsetof(cup, volume_bytes), "volume", .required = true, .unit = RC_BYTES},
               {"handles", RC_FIELD_COUNT, offsetof(cup, handles), "handles", .absent = 1, .low = 0, .high = 2},
               {"glaze", RC_FIELD_NUMBER, offsetof(cup, glaze), "glaze", .absent = 0.25},
               {"full", RC_FIELD_BOOL, offsetof(cup, full), "full"});

static size_t read_cup(const char *text, cup *read, char *last_path, size_t size) {
    rc_problems *problems = rc_problems_new();
    rc_arena *arena = rc_arena_new();
    rc_reader reader = {arena, problems, NULL, NULL};
    cJSON *json = rc_json_parse(text, "cup.json", problems);
    rc_read(&cup_table, json, read, "cup", &reader);
    size_t mistakes = rc_problems_count(problems);
    if (mistakes)
        snprintf(last_path, size, "%s", rc_problems_at(problems, mistakes - 1)->path);
    cJSON_Delete(json);
    rc_arena_free(arena);
    rc_problems_free(problems);
    return mistakes;
}

START_TEST(a_table_reads_a_struct_and_finds_every_mistake) {
    cup read;
    char path[64];
    ck_assert_uint_eq(read_cup("{\"name\": \"a\", \"volume\": \"2GB\", \"handles\": 2}", &read, path, sizeof path), 0);
    ck_assert_double_eq(read.volume_bytes, 2e9);
    ck_assert_double_eq(read.handles, 2);
    ck_assert_double_eq(read.glaze, 0.25);
    ck_assert_uint_eq(read_cup("{\"name\": 3, \"volume\": 2, \"handles\": 2.5, \"gaze\": 1}", &read, path, sizeof path),
                      4);
    ck_assert_uint_eq(read_cup("{\"name\": \"a\"}", &read, path, sizeof path), 1);
    ck_assert_str_eq(path, "cup.volume");
    ck_assert_uint_eq(read_cup("{\"name\": \"a\", \"volume\": \"2GB\", \"Full\": true}", &read, path, sizeof path), 1);
    ck_assert_str_eq(path, "cup.Full");
}
END_TEST

static char written[] = "/tmp/rackcast-test-XXXXXX";

/* Reads a CSV text; its cells joined by '|', rows by '/'. */
static const char *read_csv(const char *text, size_t length, size_t *mistakes) {
    static char joined[512];
    strcpy(written, "/tmp/rackcast-test-XXXXXX");
    int file = mkstemp(written);
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(write(file, text, length), (ssize_t)length);
    close(file);
    rc_problems *problems = rc_problems_new();
    rc_csv *csv = rc_csv_open(written, problems);
    joined[0] = 0;
    while (rc_csv_next(csv)) {
        for (size_t i = 0; i < rc_csv_count(csv); i++) {
            strcat(joined, i ? "|" : "");
            strcat(joined, rc_csv_cell(csv, i));
        }
        strcat(joined, "/");
    }
    *mistakes = rc_problems_count(problems);
    rc_csv_close(csv);
    rc_problems_free(problems);
    unlink(written);
    return joined;
}

START_TEST(spreadsheets_write_csv_in_many_ways) {
    size_t mistakes;
    static const char *const same[] = {"a,b\n1,2\n",
                                       "a,b\r\n1,2\r\n",
                                       ("\xEF\xBB\xBF"
                                        "a,b\n1,2"),
                                       "\"a\",\"b\"\n\"1\",2\n\n",
                                       "a;b\n1;2\n",
                                       "a\tb\n1\t2\n"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        ck_assert_str_eq(read_csv(same[i], strlen(same[i]), &mistakes), "a|b/1|2/");
        ck_assert_uint_eq(mistakes, 0);
    }
    ck_assert_str_eq(read_csv("\"last, \"\"first\"\"\",age\nx,\n", 25, &mistakes), "last, \"first\"|age/x|/");
    read_csv("a,\"b\n1,2\n", 9, &mistakes);
    ck_assert_uint_eq(mistakes, 1);
    read_csv("a,b\n1,\0\n", 8, &mistakes);
    ck_assert_uint_eq(mistakes, 1);
}
END_TEST

START_TEST(a_histogram_knows_its_quantiles) {
    rc_histogram *h = rc_allocate(sizeof *h), *other = rc_allocate(sizeof *other);
    for (int i = 1; i <= 10000; i++)
        rc_histogram_add(i % 2 ? h : other, i * 1e-3, 1);
    rc_histogram_merge(h, other);
    close_to(rc_histogram_quantile(h, 0.5), 5.0, 2e-3);
    close_to(rc_histogram_quantile(h, 0.99), 9.9, 2e-3);
    close_to(rc_histogram_mean(h), 5.0005, 1e-12);
    memset(h, 0, sizeof *h);
    rc_histogram_add_ramp(h, 1.0, 3.0, 1000);
    close_to(rc_histogram_quantile(h, 0.25), 1.5, 3e-3);
    close_to(rc_histogram_mean(h), 2, 1e-12);
    close_to(h->count, 1000, 1e-12);
    free(h);
    free(other);
}
END_TEST

START_TEST(streams_are_independent_of_one_another) {
    rc_random *a = rc_random_new(7, "lengths"), *b = rc_random_new(7, "lengths"), *c = rc_random_new(7, "arrivals");
    double first = rc_random_uniform(a);
    ck_assert_double_eq(first, rc_random_uniform(b));
    ck_assert_double_ne(first, rc_random_uniform(c));
    double sum = 0;
    for (int i = 0; i < 100000; i++)
        sum += rc_random_gamma(a, 2.5, 3);
    close_to(sum / 1e5, 2.5, 0.05);
    rc_random_free(a);
    rc_random_free(b);
    rc_random_free(c);
}
END_TEST

START_TEST(the_hash_is_fnv) {
    ck_assert_uint_eq(rc_hash_bytes(RC_HASH_START, "a", 1), UINT64_C(0xaf63dc4c8601ec8c));
}
END_TEST

START_TEST(every_status_has_a_name_and_an_exit_code) {
    for (int status = 0; status < RC_STATUS_COUNT; status++) {
        ck_assert_int_ge(rc_status_exit_code((rc_status)status), 0);
        ck_assert_int_le(rc_status_exit_code((rc_status)status), 5);
        ck_assert_uint_gt(strlen(rc_status_name((rc_status)status)), 1);
    }
    ck_assert_int_eq(rc_status_exit_code(RC_DOES_NOT_FIT), 4);
    ck_assert_int_eq(rc_status_exit_code(RC_BAD_UNIT), 3);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("base");
    add_tests(
        suite, "base",
        (const TTest *const[]){capacities_have_three_ways_to_be_written, units_are_read, what_is_no_quantity_is_refused,
                               numbers_are_written_for_people, a_typing_mistake_is_understood, json_is_read_strictly,
                               json_brings_every_number_back, json_with_shuffled_keys_is_the_same,
                               a_table_reads_a_struct_and_finds_every_mistake, spreadsheets_write_csv_in_many_ways,
                               a_histogram_knows_its_quantiles, streams_are_independent_of_one_another, the_hash_is_fnv,
                               every_status_has_a_name_and_an_exit_code, NULL});
    return run_suite(suite);
}
