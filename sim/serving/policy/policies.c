/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policy.h"
#include <stddef.h>
#include <string.h>

const rc_policy *const rc_policies[] = {&rc_decode_first, &rc_prefill_first, NULL};

const rc_policy *rc_policy_find(const char *name) {
    for (size_t i = 0; rc_policies[i]; i++)
        if (strcmp(rc_policies[i]->name, name) == 0)
            return rc_policies[i];
    return NULL;
}
