// A reader of JSON, for configurations.

export const enum Kind {
  Null,
  Boolean,
  Number,
  Text,
  List,
  Object,
}

export class Value {
  kind: Kind = Kind.Null;
  key: string = "";
  text: string = "";
  number: f64 = 0; // 1 for true
  items: Array<Value> = []; // of a list or an object
  read: bool = false;
}

const MAX_DEPTH = 32;

// parse gives null for a text that is not JSON.
export function parse(text: string): Value | null {
  const p = new Parser(text);
  const v = p.value(0);
  return p.bad || p.peek() != 0 ? null : v;
}

class Parser {
  at: i32 = 0;
  bad: bool = false;

  constructor(private s: string) {}

  // peek skips blanks and gives the next unit, 0 at the end.
  peek(): i32 {
    for (; this.at < this.s.length; this.at++) {
      const c = this.s.charCodeAt(this.at);
      if (c != 0x20 && c != 0x09 && c != 0x0a && c != 0x0d) return c;
    }
    return 0;
  }

  private accept(c: i32): bool {
    if (this.peek() != c) return false;
    this.at++;
    return true;
  }

  private fail(v: Value): Value {
    this.bad = true;
    return v;
  }

  value(depth: i32): Value {
    const v = new Value();
    if (depth > MAX_DEPTH) return this.fail(v);
    const c = this.peek();
    if (c == 0x22) {
      v.kind = Kind.Text;
      v.text = this.string();
      return v;
    }
    if (c == 0x7b || c == 0x5b) return this.items(v, c, depth);
    return this.word(v);
  }

  private items(v: Value, start: i32, depth: i32): Value {
    const end = start + 2; // } after {, ] after [
    v.kind = start == 0x7b ? Kind.Object : Kind.List;
    this.at++;
    if (this.accept(end)) return v;
    while (!this.bad) {
      let key = "";
      if (start == 0x7b) {
        if (this.peek() != 0x22) return this.fail(v);
        key = this.string();
        if (!this.accept(0x3a)) return this.fail(v);
      }
      const item = this.value(depth + 1);
      item.key = key;
      v.items.push(item);
      if (this.accept(end)) return v;
      if (!this.accept(0x2c)) return this.fail(v);
    }
    return v;
  }

  private word(v: Value): Value {
    const start = this.at;
    for (; this.at < this.s.length; this.at++) {
      const c = this.s.charCodeAt(this.at);
      if (c <= 0x20 || c == 0x2c || c == 0x5d || c == 0x7d || c == 0x3a) break;
    }
    const w = this.s.substring(start, this.at);
    if (w == "null") return v;
    if (w == "true" || w == "false") {
      v.kind = Kind.Boolean;
      v.number = w == "true" ? 1 : 0;
      return v;
    }
    v.kind = Kind.Number;
    v.number = number(w);
    if (isNaN(v.number)) this.bad = true;
    return v;
  }

  private string(): string {
    let out = "";
    this.at++;
    while (this.at < this.s.length) {
      const c = this.s.charCodeAt(this.at++);
      if (c == 0x22) return out;
      if (c < 0x20) break;
      if (c != 0x5c) {
        out += String.fromCharCode(c);
        continue;
      }
      const e = this.s.charAt(this.at++);
      const i = '"\\/bfnrt'.indexOf(e);
      if (i >= 0) {
        out += '"\\/\b\f\n\r\t'.charAt(i);
      } else if (e == "u" && this.at + 4 <= this.s.length) {
        const hex = this.s.substr(this.at, 4);
        this.at += 4;
        for (let k = 0; k < 4; k++) if ("0123456789abcdefABCDEF".indexOf(hex.charAt(k)) < 0) this.bad = true;
        out += String.fromCharCode(<i32>parseInt(hex, 16));
      } else {
        break;
      }
    }
    this.bad = true;
    return out;
  }
}

// number is exact for up to 15 digits and exponents up to 22; NaN for a text
// that is not a number.
function number(w: string): f64 {
  let i = 0, mantissa: u64 = 0, exponent = 0, point = 0, digits = 0;
  const minus = w.length > 0 && w.charCodeAt(0) == 0x2d;
  if (minus) i++;
  for (; i < w.length; i++) {
    const c = w.charCodeAt(i);
    if (c == 0x2e && point == 0) {
      point = 1;
      continue;
    }
    if (c < 0x30 || c > 0x39) break;
    digits++;
    if (mantissa < 100000000000000000) {
      mantissa = mantissa * 10 + (c - 0x30);
      exponent -= point;
    } else {
      exponent += 1 - point;
    }
  }
  if (digits == 0) return NaN;
  if (i < w.length && (w.charCodeAt(i) | 0x20) == 0x65) {
    i++;
    let given = 0, less = false;
    if (i < w.length && (w.charCodeAt(i) == 0x2b || w.charCodeAt(i) == 0x2d)) less = w.charCodeAt(i++) == 0x2d;
    if (i >= w.length) return NaN;
    for (; i < w.length && w.charCodeAt(i) >= 0x30 && w.charCodeAt(i) <= 0x39; i++) {
      if (given < 1000) given = given * 10 + (w.charCodeAt(i) - 0x30);
    }
    exponent += less ? -given : given;
  }
  if (i != w.length) return NaN;
  let scale: f64 = 1;
  if (mantissa == 0) exponent = 0;
  for (let n = abs(exponent); n > 0; n--) scale *= 10;
  const x = exponent < 0 ? <f64>mantissa / scale : <f64>mantissa * scale;
  return minus ? -x : x;
}
