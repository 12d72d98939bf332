/* spokeshave.h is for writing Spokeshave policies in C: freestanding, headers
 * only. A policy is one source file with one function for each hook it answers:
 *
 *   #include "spokeshave.h"
 *
 *   static double factor;
 *
 *   SS_CONFIGURE(config) { factor = ss_config_float(config, "factor", 3); }
 *
 *   SS_RANK(pool, rows, out) {
 *     for (uint32_t i = 0; i < rows.count; i++) {
 *       const ss_offering *row = ss_offering_at(rows, i);
 *       if (ss_is(ss_string(row->family), "m7i")) ss_score(out, i, factor * row->cost);
 *     }
 *   }
 *
 * A row that is not touched keeps the host's preset: the cost so far (rank),
 * deny (consolidate), no cap and allowed (ceiling). Rows and texts are views
 * into the batch: they are valid until the function returns; those of the
 * configuration stay. README.md says how to build it.
 *
 * Not here: what the fields mean (docs/spec/policy.md, section 4). */
#ifndef SPOKESHAVE_H
#define SPOKESHAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spokeshave_abi.h"

#include "spokeshave_text.h"

#include "spokeshave_session.h"

#include "spokeshave_config.h"

/* ---- Hooks ------------------------------------------------------------- */

typedef ss_pool_row ss_pool;
typedef struct { const uint8_t *at; uint32_t count, stride; } ss_rows;
typedef struct { const uint8_t *at; uint32_t count, stride; } ss_candidates;
typedef struct { const uint8_t *at; uint32_t count, stride; } ss_scopes;
typedef struct { const uint8_t *at; uint32_t count, stride; } ss_launches;
typedef struct { uint8_t *at; uint32_t count, stride; } ss_verdicts;
typedef struct { uint8_t *at; uint32_t count, stride; } ss_permissions;
typedef struct { uint8_t *at; uint32_t count, stride, scopes, launches; } ss_caps;

#define SS_TABLE_(section) ss_batch.base + (section).offset, (section).count, (section).stride

/* SS_RANK(pool, rows, out) { … } prices the offerings of one NodePool. */
#define SS_RANK(pool, rows, out)                                                                 \
  static void ss_rank_(const ss_pool *, ss_rows, ss_verdicts);                                   \
  SS_EXPORT_("spokeshave_rank") int32_t ss_export_rank_(uint8_t *ptr, uint32_t size) {           \
    if (!ss_open_(ptr, size, SS_HOOK_RANK)) return SS_REFUSED;                                   \
    ss_rank_((const ss_pool *)(ss_batch.base + ss_batch.head->pool.offset),                      \
             (ss_rows){SS_TABLE_(ss_batch.head->rows)}, (ss_verdicts){SS_TABLE_(ss_batch.head->out)}); \
    return ss_status_();                                                                         \
  }                                                                                              \
  static void ss_rank_(__attribute__((unused)) const ss_pool *pool, ss_rows rows, ss_verdicts out)

/* SS_CONSOLIDATE(candidates, out) { … } says which nodes may be disrupted. */
#define SS_CONSOLIDATE(candidates, out)                                                          \
  static void ss_consolidate_(ss_candidates, ss_permissions);                                    \
  SS_EXPORT_("spokeshave_consolidate") int32_t ss_export_consolidate_(uint8_t *ptr, uint32_t size) { \
    if (!ss_open_(ptr, size, SS_HOOK_CONSOLIDATE)) return SS_REFUSED;                            \
    ss_consolidate_((ss_candidates){SS_TABLE_(ss_batch.head->rows)},                             \
                    (ss_permissions){SS_TABLE_(ss_batch.head->out)});                            \
    return ss_status_();                                                                         \
  }                                                                                              \
  static void ss_consolidate_(ss_candidates candidates, ss_permissions out)

/* SS_CEILING(scopes, launches, out) { … } caps what scopes may spend and
 * refuses launches. Before the solve there are no launches. */
#define SS_CEILING(scopes, launches, out)                                                        \
  static void ss_ceiling_(ss_scopes, ss_launches, ss_caps);                                      \
  SS_EXPORT_("spokeshave_ceiling") int32_t ss_export_ceiling_(uint8_t *ptr, uint32_t size) {     \
    if (!ss_open_(ptr, size, SS_HOOK_CEILING)) return SS_REFUSED;                                \
    ss_ceiling_((ss_scopes){SS_TABLE_(ss_batch.head->pool)}, (ss_launches){SS_TABLE_(ss_batch.head->rows)}, \
                (ss_caps){SS_TABLE_(ss_batch.head->out), ss_batch.head->pool.count, ss_batch.head->rows.count}); \
    return ss_status_();                                                                         \
  }                                                                                              \
  static void ss_ceiling_(__attribute__((unused)) ss_scopes scopes,                              \
                          __attribute__((unused)) ss_launches launches, ss_caps out)

/* ---- Questions --------------------------------------------------------- */

/* ss_in_ is record i of a table; an index outside ends the module. */
#define SS_IN_(type, table, i) ((type *)((i) < (table).count ? (table).at + (i) * (table).stride : (__builtin_trap(), (uint8_t *)0)))

SS_FN const ss_offering *ss_offering_at(ss_rows t, uint32_t i) { return SS_IN_(const ss_offering, t, i); }
SS_FN const ss_candidate *ss_candidate_at(ss_candidates t, uint32_t i) { return SS_IN_(const ss_candidate, t, i); }
SS_FN const ss_spend *ss_spend_at(ss_scopes t, uint32_t i) { return SS_IN_(const ss_spend, t, i); }
SS_FN const ss_launch *ss_launch_at(ss_launches t, uint32_t i) { return SS_IN_(const ss_launch, t, i); }

/* Label sets, to be asked with ss_label and ss_label_at. */
SS_FN ss_labels ss_pool_labels(const ss_pool *p) { return (ss_labels){p->labels_first, p->labels_count}; }
SS_FN ss_labels ss_node_labels(const ss_candidate *c) { return (ss_labels){c->labels_first, c->labels_count}; }
SS_FN ss_labels ss_candidate_pool_labels(const ss_candidate *c) { return (ss_labels){c->pool_labels_first, c->pool_labels_count}; }
SS_FN ss_labels ss_launch_pool_labels(const ss_launch *l) { return (ss_labels){l->pool_labels_first, l->pool_labels_count}; }
/* ss_namespaces are those of a launch's pods, as keys without a value. */
SS_FN ss_labels ss_namespaces(const ss_launch *l) { return (ss_labels){l->namespaces_first, l->namespaces_count}; }

/* ---- Answers ----------------------------------------------------------- */

/* ss_score sets the effective cost of offering i in USD/hour: finite, at least
 * 0. ss_max_nodes says for how many nodes it holds; 0 is unlimited. */
SS_FN void ss_score(ss_verdicts out, uint32_t i, double usd) { SS_IN_(ss_rank_out, out, i)->score = usd; }
SS_FN void ss_max_nodes(ss_verdicts out, uint32_t i, uint32_t n) { SS_IN_(ss_rank_out, out, i)->max_nodes = n; }
/* ss_group lets the offerings of one group, numbered from 1, use up their
 * max_nodes together: each node takes 1/max_nodes. ss_shared_group is one for
 * all NodePools of the decision. */
SS_FN void ss_group(ss_verdicts out, uint32_t i, uint32_t group) { SS_IN_(ss_rank_out, out, i)->group = group; }
SS_FN void ss_shared_group(ss_verdicts out, uint32_t i, uint32_t group) {
  ss_group(out, i, group);
  SS_IN_(ss_rank_out, out, i)->flags |= SS_RANK_SHARED;
}
/* ss_reason explains the score of offering i. */
SS_FN void ss_reason(ss_verdicts out, uint32_t i, const char *reason) { SS_IN_(ss_rank_out, out, i)->reason = ss_reason_(reason); }
/* ss_exclude drops offering i. */
SS_FN void ss_exclude(ss_verdicts out, uint32_t i, const char *reason) {
  SS_IN_(ss_rank_out, out, i)->flags |= SS_RANK_EXCLUDE;
  ss_reason(out, i, reason);
}

/* ss_allow lets candidate i be disrupted, ss_deny protects it, ss_hold protects
 * it for some seconds from the decision's time. */
SS_FN void ss_allow(ss_permissions out, uint32_t i) { SS_IN_(ss_consolidate_out, out, i)->verdict = SS_VERDICT_ALLOW; }
SS_FN void ss_deny(ss_permissions out, uint32_t i, const char *reason) {
  ss_consolidate_out *o = SS_IN_(ss_consolidate_out, out, i);
  o->verdict = SS_VERDICT_DENY, o->reason = ss_reason_(reason);
}
SS_FN void ss_hold(ss_permissions out, uint32_t i, double seconds, const char *reason) {
  ss_consolidate_out *o = SS_IN_(ss_consolidate_out, out, i);
  o->verdict = SS_VERDICT_HOLD, o->hold_seconds = seconds, o->reason = ss_reason_(reason);
}
/* ss_cost adds to the disruption cost of candidate i: finite, at least 0. */
SS_FN void ss_cost(ss_permissions out, uint32_t i, double cost) { SS_IN_(ss_consolidate_out, out, i)->cost = cost; }

/* ss_hourly and ss_monthly cap scope i in USD (months in UTC); ss_soft makes
 * its caps warn instead of refuse. */
SS_FN void ss_hourly(ss_caps out, uint32_t scope, double usd) {
  ss_ceiling_out *o = SS_IN_(ss_ceiling_out, out, scope);
  o->hourly_usd = usd, o->flags |= SS_CEILING_HOURLY;
}
SS_FN void ss_monthly(ss_caps out, uint32_t scope, double usd) {
  ss_ceiling_out *o = SS_IN_(ss_ceiling_out, out, scope);
  o->monthly_usd = usd, o->flags |= SS_CEILING_MONTHLY;
}
SS_FN void ss_soft(ss_caps out, uint32_t scope) { SS_IN_(ss_ceiling_out, out, scope)->flags |= SS_CEILING_SOFT; }
/* ss_soft_hourly and ss_soft_monthly warn from USD on, beside the caps of scope i. */
SS_FN void ss_soft_hourly(ss_caps out, uint32_t scope, double usd) { ss_hourly(out, out.scopes + out.launches + scope, usd); }
SS_FN void ss_soft_monthly(ss_caps out, uint32_t scope, double usd) { ss_monthly(out, out.scopes + out.launches + scope, usd); }
/* ss_refuse refuses launch i. */
SS_FN void ss_refuse(ss_caps out, uint32_t launch, const char *reason) {
  ss_ceiling_out *o = SS_IN_(ss_ceiling_out, out, out.scopes + launch);
  o->flags = SS_CEILING_DENY, o->reason = ss_reason_(reason);
}

#endif
