// The policy of test/guests/echo in C: it uses all of the SDK.
#include "spokeshave.h"

static double factor;
static ss_text label;
static bool loud, plain;
static ss_texts avoid;
static ss_numbers weights;

SS_CONFIGURE(config) {
  factor = ss_config_float(config, "factor", 1.5);
  label = ss_config_string(config, "label", "team");
  loud = ss_config_bool(config, "loud", false);
  plain = ss_config_bool(config, "plain", false);
  avoid = ss_config_strings(config, "avoid");
  weights = ss_config_floats(config, "weights");
  if (factor <= 0) ss_config_error(config, "config.factor: not positive");
}

static const char *print(ss_line *line, ss_text t) {
  line->size = 0;
  ss_add_text(line, t);
  return line->text;
}

// find is ss_label with a key that is no literal.
static bool find(ss_labels l, ss_text key, ss_text *value) {
  ss_text k;
  for (uint32_t i = 0; ss_label_at(l, i, &k, value); i++)
    if (ss_equal(k, key)) return true;
  *value = (ss_text){NULL, 0};
  return false;
}

static double price(const ss_offering *o) {
  double pods = o->pods_fit ? o->pods_fit : 1, eff = o->cost / pods;
  if (o->capacity_type == SS_CAPACITY_SPOT) eff *= 1 + factor * o->interruption;
  double cpu = (o->vcpu - pods * 0.5) / o->vcpu, memory = (o->memory_gib - pods * 2) / o->memory_gib;
  if (cpu < 0) cpu = 0;
  if (memory < 0) memory = 0;
  eff *= 1 + 0.5 * cpu + 0.5 * memory;
  return o->gpus ? eff * 4 : eff;
}

SS_RANK(pool, rows, out) {
  if (plain) {
    for (uint32_t i = 0; i < rows.count; i++) ss_score(out, i, price(ss_offering_at(rows, i)));
    return;
  }
  if (ss_is(ss_string(pool->name), "silent")) ss_no_opinion();
  if (ss_is(ss_string(pool->name), "broken")) ss_fail("broken as asked");
  ss_line line;
  ss_text value;
  for (uint32_t i = 0; i < rows.count; i++) {
    const ss_offering *o = ss_offering_at(rows, i);
    double sum = o->billed + 2 * o->cost + 3 * o->on_demand + 5 * o->vcpu + 7 * o->memory_gib + 11 * o->interruption;
    sum += 13.0 * o->pods_fit + 17.0 * o->gpus + 19.0 * o->running + 23.0 * o->capacity_type + 29.0 * o->arch + o->flags;
    sum += 31 * o->family_on_demand + 37.0 * o->running_cluster;
    if (i == 0) {
      sum += pool->pending_cpu + pool->pending_memory_gib + pool->pending_pods + pool->running_nodes;
      sum += 2.0 * pool->spot_nodes + pool->cluster_on_demand;
      sum += (double)(ss_batch.head->seed % 97) + (double)(ss_batch.head->time / 1000000000 % 1000);
    }
    sum += ss_string(o->type).size;
    ss_score(out, i, sum * factor * ss_number(weights, ss_string(o->family), 1));
    if (ss_has(avoid, ss_string(o->family))) ss_exclude(out, i, "family to avoid");
    else if (ss_ends(ss_string(o->zone), ss_text_of("b"))) {
      find(ss_pool_labels(pool), label, &value);
      ss_max_nodes(out, i, o->pods_fit + 1), ss_group(out, i, 7);
      ss_reason(out, i, print(&line, value));
    } else if (o->arch == SS_ARCH_ARM64)
      ss_max_nodes(out, i, 9), ss_shared_group(out, i, 3), ss_reason(out, i, print(&line, ss_string(o->type)));
  }
}

SS_CONSOLIDATE(candidates, out) {
  ss_line line;
  ss_text value, why;
  for (uint32_t i = 0; i < candidates.count; i++) {
    const ss_candidate *c = ss_candidate_at(candidates, i);
    double sum = c->price + 2 * c->savings + 3 * c->age_seconds + 5 * c->idle_seconds + 7 * c->cpu_utilisation;
    sum += 11 * c->memory_utilisation + 13 * c->cost + 17.0 * c->pods + 19.0 * c->method + 23.0 * c->action + 29.0 * c->capacity_type;
    sum += 31.0 * c->job_pods + 37 * c->since_disruption + 41.0 * c->pool_evictions + 43.0 * c->cluster_evictions + 47 * c->move_cost;
    sum += ss_string(c->node).size + 2.0 * ss_string(c->claim).size + 3.0 * ss_string(c->pool).size;
    sum += 5.0 * ss_string(c->type).size + 7.0 * ss_string(c->zone).size;
    ss_cost(out, i, sum * factor);
    if (!find(ss_node_labels(c), label, &value)) ss_deny(out, i, "no label");
    else if (ss_is(value, "hold")) {
      ss_label(ss_candidate_pool_labels(c), "why", &why);
      ss_hold(out, i, c->age_seconds / 2, print(&line, why));
    } else ss_allow(out, i);
  }
}

SS_CEILING(scopes, launches, out) {
  if (loud) ss_log("asked about spending");
  for (uint32_t i = 0; i < scopes.count; i++) {
    const ss_spend *s = ss_spend_at(scopes, i);
    if (ss_begins(ss_string(s->scope), ss_text_of("nodepool/"))) ss_hourly(out, i, s->running + s->in_flight + s->nodes);
    if (s->month_to_date > 0) ss_monthly(out, i, factor * s->month_to_date);
    if (loud) ss_soft(out, i);
    if (s->nodes > 5) ss_soft_hourly(out, i, s->running / 2);
    if (s->month_to_date > 1) ss_soft_monthly(out, i, s->month_to_date);
  }
  ss_line line;
  ss_text key, value;
  for (uint32_t i = 0; i < launches.count; i++) {
    const ss_launch *l = ss_launch_at(launches, i);
    double sum = l->price + 2 * l->worst_price + 3 * l->on_demand + 5 * l->vcpu + 7 * l->memory_gib;
    sum += 11.0 * l->gpus + 13.0 * l->pods + 17.0 * l->capacity_type;
    sum += ss_string(l->pool).size + 2.0 * ss_string(l->type).size + 3.0 * ss_string(l->family).size + 5.0 * ss_string(l->zone).size;
    if (sum > 500) {
      line.size = 0;
      ss_add(&line, "sum ");
      ss_add_number(&line, sum, 2);
      ss_refuse(out, i, line.text);
    }
    for (uint32_t k = 0; ss_label_at(ss_namespaces(l), k, &key, &value); k++)
      if (ss_is(key, "kube-system")) ss_refuse(out, i, "system");
    if (find(ss_launch_pool_labels(l), label, &value)) ss_refuse(out, i, print(&line, value));
  }
}
