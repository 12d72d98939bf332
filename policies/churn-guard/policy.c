/* churn-guard: bounds how many pods are evicted within an hour, by NodePool and
 * in the cluster, and leaves a NodePool in peace for a while after each
 * disruption. Candidates that share a batch share what is left. */
#include "spokeshave.h"

static double most_pool, most_cluster, backoff;

/* How long a candidate waits for the hour to pass on. */
static const double look_again = 300;

SS_CONFIGURE(config) {
  most_pool = ss_config_float(config, "poolEvictions", 50);
  most_cluster = ss_config_float(config, "clusterEvictions", 200);
  backoff = ss_config_float(config, "backoff", 120);
  if (most_pool < 0 || most_cluster < 0 || backoff < 0) ss_config_error(config, "config: a bound is negative");
}

/* spare says whether more pods may go after those that went. A node with more
 * pods than the bound goes when no other has. */
static bool spare(double most, double gone, double pods) { return most == 0 || gone == 0 || gone + pods <= most; }

/* allowed are the pods of the candidates of a NodePool that come before i and
 * were allowed. */
static double allowed(ss_candidates candidates, ss_permissions out, uint32_t i, bool everywhere) {
  double sum = 0;
  uint32_t pool = ss_candidate_at(candidates, i)->pool;
  for (uint32_t k = 0; k < i; k++) {
    const ss_candidate *c = ss_candidate_at(candidates, k);
    if ((everywhere || c->pool == pool) && SS_IN_(ss_consolidate_out, out, k)->verdict == SS_VERDICT_ALLOW) sum += c->pods;
  }
  return sum;
}

SS_CONSOLIDATE(candidates, out) {
  for (uint32_t i = 0; i < candidates.count; i++) {
    const ss_candidate *c = ss_candidate_at(candidates, i);
    if (c->method == SS_METHOD_EXPIRED || c->pods == 0) {
      ss_allow(out, i);
    } else if (c->since_disruption >= 0 && c->since_disruption < backoff) {
      ss_hold(out, i, backoff - c->since_disruption, "a node of the NodePool was disrupted a moment ago");
    } else if (!spare(most_pool, c->pool_evictions + allowed(candidates, out, i, false), c->pods)) {
      ss_hold(out, i, look_again, "enough pods of the NodePool were evicted within the hour");
    } else if (!spare(most_cluster, c->cluster_evictions + allowed(candidates, out, i, true), c->pods)) {
      ss_hold(out, i, look_again, "enough pods of the cluster were evicted within the hour");
    } else {
      ss_allow(out, i);
    }
  }
}
