/* price-performance: a vCPU of a newer generation does more, and one of
 * Graviton or AMD from generation 7 on is a core, not half of one. What an
 * offering costs is divided by what its vCPUs do. */
#include "spokeshave.h"

static ss_numbers per_vcpu;

SS_CONFIGURE(config) {
  per_vcpu = ss_config_floats(config, "perVCPU");
  for (uint32_t i = 0; i < per_vcpu.count; i++)
    if (per_vcpu.values[i] <= 0) ss_config_error(config, "config.perVCPU: a value is not positive");
}

static bool digit(char c) { return c >= '0' && c <= '9'; }

/* generation is "7g" of "m7gd", "5" of "m5dn", "7i" of "c7i-flex". */
static ss_text generation(ss_text family) {
  uint32_t from = 0;
  while (from < family.size && !digit(family.data[from])) from++;
  uint32_t to = from;
  while (to < family.size && digit(family.data[to])) to++;
  if (to < family.size && (family.data[to] == 'a' || family.data[to] == 'g' || family.data[to] == 'i')) to++;
  return (ss_text){family.data + from, to - from};
}

SS_RANK(pool, rows, out) {
  for (uint32_t i = 0; i < rows.count; i++) {
    const ss_offering *row = ss_offering_at(rows, i);
    double does = ss_number(per_vcpu, generation(ss_string(row->family)), 1);
    ss_score(out, i, row->cost / does);
  }
}
