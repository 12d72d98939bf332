// The consolidate hook: may this node go?
import { Candidate, ConsolidateOut, HOOK_CONSOLIDATE, REFUSED, VERDICT_ALLOW, VERDICT_DENY, VERDICT_HOLD } from "./abi";
import { Call, Labels, open, outs, reason, record, rows, Section, status, text } from "./session";
import { Text } from "./text";

// Candidates are the nodes in question.
export class Candidates extends Call {
  private s: Section = rows();

  get length(): i32 {
    return <i32>this.s.count;
  }

  // at is candidate i. It must not be changed.
  at(i: i32): Candidate {
    return changetype<Candidate>(record(this.s, i));
  }

  node(i: i32): Text {
    return text(this.at(i).node);
  }

  nodePool(i: i32): Text {
    return text(this.at(i).pool);
  }

  // labels are those of candidate i's node, poolLabels those of its NodePool.
  labels(i: i32): Labels {
    return new Labels(this.at(i).labelsFirst, this.at(i).labelsCount);
  }

  poolLabels(i: i32): Labels {
    return new Labels(this.at(i).poolLabelsFirst, this.at(i).poolLabelsCount);
  }
}

// Permissions are the answers, a row for each candidate; it starts as denied.
export class Permissions {
  private s: Section = outs();

  private at(i: i32): ConsolidateOut {
    return changetype<ConsolidateOut>(record(this.s, i));
  }

  // allow lets candidate i be disrupted.
  allow(i: i32): void {
    this.at(i).verdict = VERDICT_ALLOW;
  }

  // deny protects candidate i.
  deny(i: i32, why: string): void {
    this.at(i).verdict = VERDICT_DENY;
    this.at(i).reason = reason(why);
  }

  // hold protects candidate i for some seconds from the decision's time.
  hold(i: i32, seconds: f64, why: string): void {
    const out = this.at(i);
    out.verdict = VERDICT_HOLD;
    out.holdSeconds = seconds;
    out.reason = reason(why);
  }

  // cost adds to the disruption cost of candidate i: finite, at least 0.
  cost(i: i32, cost: f64): void {
    this.at(i).cost = cost;
  }
}

type Consolidate = (candidates: Candidates, out: Permissions) => void;

let registered: Consolidate | null = null;

// onConsolidate registers the policy's consolidate hook.
export function onConsolidate(f: Consolidate): void {
  registered = f;
}

export function hasConsolidate(): bool {
  return registered !== null;
}

export function runConsolidate(ptr: usize, size: u32): i32 {
  if (!open(ptr, size, HOOK_CONSOLIDATE)) return REFUSED;
  registered!(new Candidates(), new Permissions());
  return status();
}
