/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "placement.h"
#include "text.h"
#include "weights.h"
#include <math.h>

typedef struct checker {
    rc_text *reasons;
    size_t *count;
    bool good;
} checker;

static void divide(checker *c, const char *what, double value, const char *by, double degree) {
    char number[32];
    if (value <= 0 || fmod(value, degree) == 0)
        return;
    c->good = false;
    rc_reason_add(c->reasons, c->count, "%s %s does not divide by %s%.0f (%.0f left over)", what,
                  rc_count_text(number, sizeof number, value), by, degree, fmod(value, degree));
}

static void check_mixer(checker *c, const rc_mixer *m, double tp) {
    divide(c, rc_mixer_is_recurrent(m) ? "state heads" : "attention heads", m->heads, "TP", tp);
    if (m->kind == RC_GDN)
        divide(c, "state key heads", m->key_heads, "TP", tp);
    bool copied =
        m->kv_heads > 0 && fmod(tp, m->kv_heads) == 0; /* fewer KV heads than ranks: each is held more than once */
    if (m->kind == RC_GQA && !copied)
        divide(c, "KV heads", m->kv_heads, "TP", tp);
}

/* Decode context parallelism splits what tensor parallelism replicates: a latent cache, or KV heads held more than once. */
static void check_context_split(checker *c, const rc_mixer *m, const rc_parallel *p) {
    double most = m->kind == RC_GQA ? p->tp / fmin(p->tp, m->kv_heads) : p->tp;
    if (rc_mixer_is_recurrent(m) || p->dcp <= most)
        return;
    c->good = false;
    rc_reason_add(c->reasons, c->count, "%.0f KV heads at TP%.0f lie on %.0f ranks each: DCP%.0f has nothing to split",
                  m->kv_heads, p->tp, most, p->dcp);
}

bool rc_placement_check(const rc_scenario *s, const rc_parallel *p, rc_text *reasons, size_t *count) {
    checker c = {reasons, count, true};
    divide(&c, "vocabulary", s->model.vocab, "TP", p->tp);
    divide(&c, "hidden size", s->model.hidden, "TP", p->tp);
    for (size_t i = 0; i < s->model.mixers_count; i++)
        check_mixer(&c, &s->model.mixers[i], p->tp);
    for (size_t i = 0; i < s->model.mixers_count; i++)
        check_context_split(&c, &s->model.mixers[i], p);
    for (size_t i = 0; i < s->model.ffns_count; i++) {
        const rc_ffn *f = &s->model.ffns[i];
        if (f->kind == RC_DENSE)
            divide(&c, "width of the dense network", f->inner, "TP", p->tp);
        else {
            divide(&c, p->redundant_experts > 0 ? "routed and redundant experts" : "routed experts",
                   f->experts + p->redundant_experts, "EP", p->ep);
            if (p->ep == 1 && !c.good) /* would experts be a way out? */
                divide(&c, "routed experts", f->experts, "EP", p->tp * p->dp);
            divide(&c, "columns of an expert", f->inner, "expert TP", rc_expert_tp(p));
            divide(&c, "columns of the shared experts", f->shared_inner, "TP", p->tp);
        }
    }
    if (s->model.layers_total < p->pp) {
        c.good = false;
        rc_reason_add(reasons, count, "%.0f layers are fewer than PP%.0f stages", s->model.layers_total, p->pp);
    }
    return c.good;
}

void rc_stage_layers(const rc_model *model, double stages, double stage, double *first, double *last) {
    double each = floor(model->layers_total / stages), longer = fmod(model->layers_total, stages);
    *first = stage * each + fmin(stage, longer);
    *last = *first + each + (stage < longer ? 1 : 0);
}
