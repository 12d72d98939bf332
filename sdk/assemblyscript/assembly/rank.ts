// The rank hook: what does an offering cost in our eyes?
import { HOOK_RANK, Offering, PoolRow, RANK_EXCLUDE, RANK_SHARED, RankOut, REFUSED } from "./abi";
import { Call, Labels, open, outs, pools, reason, record, rows, Section, status, text } from "./session";
import { Text } from "./text";

// Pool is the NodePool in question.
export class Pool extends Call {
  // row has the numbers.
  get row(): PoolRow {
    return changetype<PoolRow>(record(pools(), 0));
  }

  get name(): Text {
    return text(this.row.name);
  }

  get labels(): Labels {
    return new Labels(this.row.labelsFirst, this.row.labelsCount);
  }
}

// Rows are the offerings to price.
export class Rows {
  private s: Section = rows();

  get length(): i32 {
    return <i32>this.s.count;
  }

  // at is offering i. It must not be changed.
  at(i: i32): Offering {
    return changetype<Offering>(record(this.s, i));
  }

  // text is the text of a string id, such as Offering.family.
  text(id: u32): Text {
    return text(id);
  }

  instanceType(i: i32): Text {
    return text(this.at(i).type);
  }

  family(i: i32): Text {
    return text(this.at(i).family);
  }

  zone(i: i32): Text {
    return text(this.at(i).zone);
  }
}

// Verdicts are the answers, a row for each offering.
export class Verdicts {
  private s: Section = outs();

  private at(i: i32): RankOut {
    return changetype<RankOut>(record(this.s, i));
  }

  // score sets the effective cost of offering i in USD/hour: finite, at least 0.
  score(i: i32, usd: f64): void {
    this.at(i).score = usd;
  }

  // maxNodes says for how many nodes the score of offering i holds; 0 is
  // unlimited.
  maxNodes(i: i32, n: u32): void {
    this.at(i).maxNodes = n;
  }

  // group lets the offerings of one group, numbered from 1, use up their
  // maxNodes together: each node takes 1/maxNodes.
  group(i: i32, group: u32): void {
    this.at(i).group = group;
  }

  // sharedGroup is like group, with one group for all NodePools of the decision.
  sharedGroup(i: i32, group: u32): void {
    const out = this.at(i);
    out.group = group;
    out.flags |= RANK_SHARED;
  }

  // exclude drops offering i.
  exclude(i: i32, why: string): void {
    const out = this.at(i);
    out.flags |= RANK_EXCLUDE;
    out.reason = reason(why);
  }

  // reason explains the score of offering i.
  reason(i: i32, why: string): void {
    this.at(i).reason = reason(why);
  }
}

type Rank = (pool: Pool, rows: Rows, out: Verdicts) => void;

let registered: Rank | null = null;

// onRank registers the policy's rank hook.
export function onRank(f: Rank): void {
  registered = f;
}

export function hasRank(): bool {
  return registered !== null;
}

export function runRank(ptr: usize, size: u32): i32 {
  if (!open(ptr, size, HOOK_RANK)) return REFUSED;
  registered!(new Pool(), new Rows(), new Verdicts());
  return status();
}
