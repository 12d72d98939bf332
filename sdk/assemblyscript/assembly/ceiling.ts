// The ceiling hook: how much may be spent?
import { CEILING_DENY, CEILING_HOURLY, CEILING_MONTHLY, CEILING_SOFT, CeilingOut, HOOK_CEILING, Launch, REFUSED, Spend } from "./abi";
import { Call, Labels, open, outs, pools, reason, record, rows, Section, status, text } from "./session";
import { Text } from "./text";

// Scopes are the scopes in play: "cluster", "nodepool/<name>",
// "label/<key>=<value>" and "namespace/<name>".
export class Scopes extends Call {
  private s: Section = pools();

  get length(): i32 {
    return <i32>this.s.count;
  }

  // at is scope i. It must not be changed.
  at(i: i32): Spend {
    return changetype<Spend>(record(this.s, i));
  }

  name(i: i32): Text {
    return text(this.at(i).scope);
  }
}

// Launches are the launches to review; there are none before the solve.
export class Launches {
  private s: Section = rows();

  get length(): i32 {
    return <i32>this.s.count;
  }

  // at is launch i. It must not be changed.
  at(i: i32): Launch {
    return changetype<Launch>(record(this.s, i));
  }

  nodePool(i: i32): Text {
    return text(this.at(i).pool);
  }

  // poolLabels are those of launch i's NodePool.
  poolLabels(i: i32): Labels {
    return new Labels(this.at(i).poolLabelsFirst, this.at(i).poolLabelsCount);
  }

  // namespaces are those of launch i's pods, as keys without a value.
  namespaces(i: i32): Labels {
    return new Labels(this.at(i).namespacesFirst, this.at(i).namespacesCount);
  }
}

// Caps are the answers: caps by scope and refusals by launch.
export class Caps {
  private s: Section = outs();
  private scopes: i32 = <i32>pools().count;
  private launches: i32 = <i32>rows().count;

  private at(i: i32): CeilingOut {
    return changetype<CeilingOut>(record(this.s, i));
  }

  // hourly caps scope i at USD per hour.
  hourly(scope: i32, usd: f64): void {
    const out = this.at(scope);
    out.hourlyUSD = usd;
    out.flags |= CEILING_HOURLY;
  }

  // monthly caps scope i at USD per month, months in UTC.
  monthly(scope: i32, usd: f64): void {
    const out = this.at(scope);
    out.monthlyUSD = usd;
    out.flags |= CEILING_MONTHLY;
  }

  // soft makes the caps of scope i warn instead of refuse.
  soft(scope: i32): void {
    this.at(scope).flags |= CEILING_SOFT;
  }

  // softHourly warns from USD per hour on, beside the caps of scope i.
  softHourly(scope: i32, usd: f64): void {
    this.hourly(this.scopes + this.launches + scope, usd);
  }

  // softMonthly warns from USD per month on, beside the caps of scope i.
  softMonthly(scope: i32, usd: f64): void {
    this.monthly(this.scopes + this.launches + scope, usd);
  }

  // deny refuses launch i.
  deny(launch: i32, why: string): void {
    const out = this.at(this.scopes + launch);
    out.flags = CEILING_DENY;
    out.reason = reason(why);
  }
}

type Ceiling = (scopes: Scopes, launches: Launches, out: Caps) => void;

let registered: Ceiling | null = null;

// onCeiling registers the policy's ceiling hook.
export function onCeiling(f: Ceiling): void {
  registered = f;
}

export function hasCeiling(): bool {
  return registered !== null;
}

export function runCeiling(ptr: usize, size: u32): i32 {
  if (!open(ptr, size, HOOK_CEILING)) return REFUSED;
  registered!(new Scopes(), new Launches(), new Caps());
  return status();
}
