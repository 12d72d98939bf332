// The policy of test/guests/echo in AssemblyScript: it uses all of the SDK.
import {
  ARCH_ARM64, Candidates, CAPACITY_SPOT, Caps, Config, fixed, Launches, log, Offering, onCeiling, onConfigure,
  onConsolidate, onRank, Permissions, Pool, Rows, Scopes, Verdicts,
} from "../../../sdk/assemblyscript/assembly";
export * from "../../../sdk/assemblyscript/assembly/exports";

let factor: f64 = 1.5;
let label: string = "team";
let loud: bool = false;
let plain: bool = false;
let avoid: string[] = [];
let families: string[] = [];
let weights: f64[] = [];

onConfigure((config: Config): void => {
  factor = config.float("factor", 1.5);
  label = config.string("label", "team");
  loud = config.bool("loud", false);
  plain = config.bool("plain", false);
  avoid = config.strings("avoid");
  const map = config.floats("weights");
  families = map.keys();
  weights = map.values();
  if (factor <= 0) config.error("config.factor: not positive");
});

function price(o: Offering): f64 {
  const pods: f64 = o.podsFit ? <f64>o.podsFit : 1;
  let eff = o.cost / pods;
  if (o.capacityType == CAPACITY_SPOT) eff *= 1 + factor * o.interruption;
  let cpu = (o.vcpu - pods * 0.5) / o.vcpu, memory = (o.memoryGiB - pods * 2) / o.memoryGiB;
  if (cpu < 0) cpu = 0;
  if (memory < 0) memory = 0;
  eff *= 1 + 0.5 * cpu + 0.5 * memory;
  return o.gpus ? eff * 4 : eff;
}

onRank((pool: Pool, rows: Rows, out: Verdicts): void => {
  const n = rows.length;
  if (plain) {
    for (let i = 0; i < n; i++) out.score(i, price(rows.at(i)));
    return;
  }
  if (pool.name.is("silent")) pool.noOpinion();
  if (pool.name.is("broken")) pool.fail("broken as asked");
  for (let i = 0; i < n; i++) {
    const o = rows.at(i), family = rows.family(i);
    let sum = o.billed + 2 * o.cost + 3 * o.onDemand + 5 * o.vcpu + 7 * o.memoryGiB + 11 * o.interruption;
    sum += 13 * <f64>o.podsFit + 17 * <f64>o.gpus + 19 * <f64>o.running + 23 * <f64>o.capacityType + 29 * <f64>o.arch + <f64>o.flags;
    sum += 31 * o.familyOnDemand + 37 * <f64>o.runningCluster;
    if (i == 0) {
      sum += pool.row.pendingCPU + pool.row.pendingMemoryGiB + <f64>pool.row.pendingPods + <f64>pool.row.runningNodes;
      sum += 2 * <f64>pool.row.spotNodes + pool.row.clusterOnDemand;
      sum += <f64>(pool.seed % 97) + <f64>((pool.time / 1000000000) % 1000);
    }
    sum += <f64>rows.instanceType(i).size;
    let weight: f64 = 1;
    for (let k = 0; k < families.length; k++) if (family.is(families[k])) weight = weights[k];
    out.score(i, sum * factor * weight);
    let excluded = false;
    for (let k = 0; k < avoid.length; k++) if (family.is(avoid[k])) excluded = true;
    if (excluded) {
      out.exclude(i, "family to avoid");
    } else if (rows.zone(i).ends("b")) {
      out.maxNodes(i, o.podsFit + 1);
      out.group(i, 7);
      out.reason(i, pool.labels.get(label).toString());
    } else if (o.arch == ARCH_ARM64) {
      out.maxNodes(i, 9);
      out.sharedGroup(i, 3);
      out.reason(i, rows.instanceType(i).toString());
    }
  }
});

onConsolidate((candidates: Candidates, out: Permissions): void => {
  for (let i = 0; i < candidates.length; i++) {
    const c = candidates.at(i);
    let sum = c.price + 2 * c.savings + 3 * c.ageSeconds + 5 * c.idleSeconds + 7 * c.cpuUtilisation;
    sum += 11 * c.memoryUtilisation + 13 * c.cost + 17 * <f64>c.pods + 19 * <f64>c.method + 23 * <f64>c.action + 29 * <f64>c.capacityType;
    sum += 31 * <f64>c.jobPods + 37 * c.sinceDisruption + 41 * <f64>c.poolEvictions + 43 * <f64>c.clusterEvictions + 47 * c.moveCost;
    sum += <f64>candidates.node(i).size + 2 * <f64>candidates.text(c.claim).size + 3 * <f64>candidates.nodePool(i).size;
    sum += 5 * <f64>candidates.text(c.type).size + 7 * <f64>candidates.text(c.zone).size;
    out.cost(i, sum * factor);
    const labels = candidates.labels(i);
    if (!labels.has(label)) {
      out.deny(i, "no label");
    } else if (labels.get(label).is("hold")) {
      out.hold(i, c.ageSeconds / 2, candidates.poolLabels(i).get("why").toString());
    } else {
      out.allow(i);
    }
  }
});

onCeiling((scopes: Scopes, launches: Launches, out: Caps): void => {
  if (loud) log("asked about spending");
  for (let i = 0; i < scopes.length; i++) {
    const s = scopes.at(i);
    if (scopes.name(i).begins("nodepool/")) out.hourly(i, s.running + s.inFlight + <f64>s.nodes);
    if (s.monthToDate > 0) out.monthly(i, factor * s.monthToDate);
    if (loud) out.soft(i);
    if (s.nodes > 5) out.softHourly(i, s.running / 2);
    if (s.monthToDate > 1) out.softMonthly(i, s.monthToDate);
  }
  for (let i = 0; i < launches.length; i++) {
    const l = launches.at(i);
    let sum = l.price + 2 * l.worstPrice + 3 * l.onDemand + 5 * l.vcpu + 7 * l.memoryGiB;
    sum += 11 * <f64>l.gpus + 13 * <f64>l.pods + 17 * <f64>l.capacityType;
    sum += <f64>launches.nodePool(i).size + 2 * <f64>scopes.text(l.type).size + 3 * <f64>scopes.text(l.family).size + 5 * <f64>scopes.text(l.zone).size;
    if (sum > 500) out.deny(i, "sum " + fixed(sum, 2));
    const namespaces = launches.namespaces(i);
    for (let k = 0; k < namespaces.length; k++) if (namespaces.key(k).is("kube-system")) out.deny(i, "system");
    const labels = launches.poolLabels(i);
    if (labels.has(label)) out.deny(i, labels.get(label).toString());
  }
});
