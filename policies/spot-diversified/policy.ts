// spot-diversified: spot instances, but not only, and not all of a kind. The
// first nodes are on demand, up to a floor and a share of the NodePool; spot
// offerings that are interrupted often, or that the NodePool has many of
// already, cost more in effect.
import {
  CAPACITY_ON_DEMAND, CAPACITY_SPOT, Config, onConfigure, onRank, Pool, Rows, Verdicts,
} from "../../sdk/assemblyscript/assembly";
export * from "../../sdk/assemblyscript/assembly/exports";

// What on-demand nodes cost until there are enough of them: little, and still in
// proportion to their prices.
const WANTED: f64 = 0.001;

let floor: f64 = 2;
let share: f64 = 0.7;
let interruption: f64 = 1;
let concentration: f64 = 1;

onConfigure((config: Config): void => {
  floor = config.float("onDemandFloor", 2);
  share = config.float("spotShare", 0.7);
  interruption = config.float("interruptionWeight", 1);
  concentration = config.float("concentrationWeight", 1);
  if (floor < 0 || interruption < 0 || concentration < 0) config.error("config: a number is negative");
  if (share < 0 || share > 1) config.error("config.spotShare: not between 0 and 1");
});

// expected is how many nodes the waiting pods will need, if they are like their
// mean and go where a pod costs least.
function expected(pool: Pool, rows: Rows): f64 {
  let best: f64 = Infinity, fit: f64 = 1;
  for (let i = 0; i < rows.length; i++) {
    const o = rows.at(i);
    if (o.podsFit == 0) continue;
    const cost = o.cost / <f64>o.podsFit;
    if (cost < best) {
      best = cost;
      fit = <f64>o.podsFit;
    }
  }
  return Math.ceil(<f64>pool.row.pendingPods / fit);
}

// missing is how many on-demand nodes the NodePool is short of.
function missing(pool: Pool, rows: Rows): f64 {
  const running = <f64>pool.row.runningNodes, spot = <f64>pool.row.spotNodes;
  const wanted = Math.max(floor, Math.ceil((1 - share) * (running + expected(pool, rows)) - 1e-9));
  return wanted - (running - spot);
}

// Size is how large the on-demand nodes that are missing may be. They cost so little that
// they would otherwise be as large as all pods together. While pods wait, each takes its part
// of the on-demand share of them; else it is at most twice as large as the NodePool's mean
// node. The smallest type is always among them.
class Size {
  pods: f64 = Infinity;
  vcpu: f64 = Infinity;

  constructor(pool: Pool, rows: Rows, short: f64) {
    const waiting = <f64>pool.row.pendingPods;
    let nodes: f64 = 0, vcpu: f64 = 0, fewest: f64 = Infinity, smallest: f64 = Infinity;
    for (let i = 0; i < rows.length; i++) {
      const o = rows.at(i);
      nodes += <f64>o.running;
      vcpu += <f64>o.running * o.vcpu;
      if (o.capacityType != CAPACITY_ON_DEMAND) continue;
      if (o.podsFit > 0) fewest = Math.min(fewest, <f64>o.podsFit);
      smallest = Math.min(smallest, o.vcpu);
    }
    if (waiting > 0) {
      const wanted = Math.ceil(Math.max(short, (1 - share) * waiting) / short - 1e-9);
      this.pods = Math.max(wanted, fewest);
    } else if (nodes > 0) {
      this.vcpu = Math.max(2 * vcpu / nodes, smallest);
    }
  }
}

onRank((pool: Pool, rows: Rows, out: Verdicts): void => {
  const short = missing(pool, rows), running = <f64>pool.row.runningNodes, most = new Size(pool, rows, Math.max(short, 1));
  for (let i = 0; i < rows.length; i++) {
    const o = rows.at(i);
    if (o.capacityType == CAPACITY_ON_DEMAND && short >= 1 && <f64>o.podsFit <= most.pods && o.vcpu <= most.vcpu) {
      out.score(i, o.cost * WANTED);
      out.maxNodes(i, <u32>short);
      out.group(i, 1);
    } else if (o.capacityType == CAPACITY_SPOT) {
      let factor: f64 = 1 + interruption * o.interruption;
      if (running > 0) factor += concentration * <f64>o.running / running;
      out.score(i, o.cost * factor);
    }
  }
});
