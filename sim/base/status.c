/* SPDX-License-Identifier: GPL-3.0-or-later
 * The one list of statuses: names and exit codes. */
#include "rackcast.h"

static const struct {
    const char *text;
    int exit_code;
} statuses[RC_STATUS_COUNT] = {
#define RC_X(name, code, text) {text, code},
    RC_STATUS_LIST(RC_X)
#undef RC_X
};

const char *rc_status_name(rc_status status) {
    return status < RC_STATUS_COUNT ? statuses[status].text : "unknown status";
}

int rc_status_exit_code(rc_status status) {
    return status < RC_STATUS_COUNT ? statuses[status].exit_code : statuses[RC_INTERNAL].exit_code;
}
