// The policy's configuration, a JSON object.
import { ANSWERED, HOOK_CEILING, HOOK_CONSOLIDATE, HOOK_RANK, REFUSED, SETUP_SIZE } from "./abi";
import { Kind, parse, Value } from "./json";
import { appendMessage, received } from "./session";

// Config is read once, before any question. A getter gives the fallback for a
// key that is absent; a value of the wrong type and a key that nobody reads are
// errors, which the SDK reports for the author.
export class Config {
  private wrong: string = "";
  private own: string = "";

  constructor(private values: Array<Value>) {}

  float(key: string, fallback: f64): f64 {
    const v = this.find(key, Kind.Number);
    return v ? v.number : fallback;
  }

  string(key: string, fallback: string): string {
    const v = this.find(key, Kind.Text);
    return v ? v.text : fallback;
  }

  bool(key: string, fallback: bool): bool {
    const v = this.find(key, Kind.Boolean);
    return v ? v.number != 0 : fallback;
  }

  // strings is a list of texts, empty when the key is absent.
  strings(key: string): Array<string> {
    const out = new Array<string>();
    const v = this.find(key, Kind.List);
    if (!v) return out;
    for (let i = 0; i < v.items.length; i++) {
      if (v.items[i].kind != Kind.Text) {
        this.refuse(key, Kind.List);
        return new Array<string>();
      }
      out.push(v.items[i].text);
    }
    return out;
  }

  // floats is an object whose values are numbers, empty when the key is absent.
  floats(key: string): Map<string, f64> {
    const out = new Map<string, f64>();
    const v = this.find(key, Kind.Object);
    if (!v) return out;
    for (let i = 0; i < v.items.length; i++) {
      if (v.items[i].kind != Kind.Number) {
        this.refuse(key, Kind.Object);
        return new Map<string, f64>();
      }
      out.set(v.items[i].key, v.items[i].number);
    }
    return out;
  }

  // error refuses the configuration, for a reason of your own.
  error(why: string): void {
    if (this.own == "") this.own = why;
  }

  // verdict is the error to report, empty for none. A wrong type explains more
  // than an unknown key, and that more than what the policy itself says.
  verdict(): string {
    let unknown = "";
    for (let i = 0; i < this.values.length; i++) {
      const v = this.values[i];
      if (!v.read && (unknown == "" || v.key < unknown)) unknown = v.key;
    }
    if (this.wrong != "") return this.wrong;
    return unknown != "" ? "config." + unknown + ": unknown key" : this.own;
  }

  private find(key: string, want: Kind): Value | null {
    for (let i = 0; i < this.values.length; i++) {
      const v = this.values[i];
      if (v.key != key) continue;
      v.read = true;
      if (v.kind == want) return v;
      this.refuse(key, want);
      return null;
    }
    return null;
  }

  private refuse(key: string, want: Kind): void {
    if (this.wrong == "") this.wrong = "config." + key + ": not " + kindName(want);
  }
}

function kindName(k: Kind): string {
  if (k == Kind.Boolean) return "a truth value";
  if (k == Kind.Number) return "a number";
  if (k == Kind.Text) return "a text";
  return k == Kind.List ? "a list of texts" : "an object";
}

type Configure = (config: Config) => void;

let registered: Configure | null = null;

// onConfigure registers a function for the policy's configuration. A policy
// without one refuses any configuration.
export function onConfigure(f: Configure): void {
  registered = f;
}

export function setup(ptr: usize, size: u32, rank: bool, consolidate: bool, ceiling: bool): i32 {
  if (!received(ptr, size) || size < SETUP_SIZE || load<u32>(ptr) != 0x31435353) return REFUSED;
  const total = load<u32>(ptr, 8);
  const config = load<u32>(ptr, 44), configSize = load<u32>(ptr, 48);
  const message = load<u32>(ptr, 52), messageSize = load<u32>(ptr, 56);
  if (total < SETUP_SIZE || total > size || <u64>config + configSize > total || <u64>message + messageSize > total) return REFUSED;
  const hooks: u32 = load<u16>(ptr, 6);
  let error = "";
  if (hooks & (1 << HOOK_RANK) && !rank) error = missing("rank");
  else if (hooks & (1 << HOOK_CONSOLIDATE) && !consolidate) error = missing("consolidate");
  else if (hooks & (1 << HOOK_CEILING) && !ceiling) error = missing("ceiling");
  else error = configure(ptr + config, configSize);
  if (error == "") return ANSWERED;
  if (messageSize >= 4) store<u32>(ptr + message, 4);
  appendMessage(ptr + message, messageSize, String.UTF8.encode(error));
  return REFUSED;
}

function missing(hook: string): string {
  return "policy.yaml lists the hook " + hook + ", which the module does not register";
}

function configure(at: usize, size: u32): string {
  let values = new Array<Value>();
  if (size > 0) {
    const v = parse(String.UTF8.decodeUnsafe(at, size));
    if (!v) return "config: not JSON";
    if (v.kind != Kind.Null && v.kind != Kind.Object) return "config: not an object";
    values = v.items;
  }
  const c = new Config(values);
  if (registered !== null) registered!(c);
  return c.verdict();
}
