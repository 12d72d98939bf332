// Texts of the batch: UTF-8 where the host has written it.

// Text is UTF-8 in the batch. It compares with strings without a copy;
// toString makes one.
@unmanaged
export class Text {
  private offset: u32;
  private bytes: u32;

  // size is the length in bytes.
  get size(): i32 {
    return <i32>this.bytes;
  }

  private get data(): usize {
    return textBytes + this.offset;
  }

  // is says whether the text equals a string.
  is(other: string): bool {
    return <i32>this.bytes >= other.length && this.match(0, other) == this.bytes;
  }

  // begins and ends compare the start and the end of the text.
  begins(other: string): bool {
    return this.match(0, other) != NONE;
  }

  ends(other: string): bool {
    const size = <u32>String.UTF8.byteLength(other);
    return size <= this.bytes && this.match(this.bytes - size, other) == this.bytes;
  }

  toString(): string {
    return String.UTF8.decodeUnsafe(this.data, this.bytes);
  }

  // match compares from a place on and gives the place behind, or NONE.
  private match(at: u32, other: string): u32 {
    const data = this.data;
    for (let i = 0, n = other.length; i < n; ) {
      const point = <u32>other.codePointAt(i);
      i += point > 0xffff ? 2 : 1;
      if (point < 0x80) {
        if (at >= this.bytes || load<u8>(data + at) != point) return NONE;
        at++;
        continue;
      }
      const size: u32 = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      if (at + size > this.bytes) return NONE;
      if (load<u8>(data + at) != (((0xf00 >> size) & 0xff) | (point >> (6 * (size - 1))))) return NONE;
      for (let k: u32 = 1; k < size; k++) {
        if (load<u8>(data + at + k) != (0x80 | ((point >> (6 * (size - 1 - k))) & 63))) return NONE;
      }
      at += size;
    }
    return at;
  }
}

const NONE: u32 = 0xffffffff;

// Where the texts of the batch are.
let textBytes: usize = 0;

export function placeTexts(at: usize): void {
  textBytes = at;
}

// fixed prints a number with at most 9 decimals; numbers beyond 1e15 as "?".
export function fixed(x: f64, decimals: u32): string {
  if (!(x > -1e15 && x < 1e15)) return "?";
  const minus = x < 0;
  if (minus) x = -x;
  let scale: u64 = 1;
  for (let i: u32 = 0; i < min<u32>(decimals, 9); i++) scale *= 10;
  let whole = <u64>x;
  let part = <u64>((x - <f64>whole) * <f64>scale + 0.5);
  if (part >= scale) {
    whole++;
    part -= scale;
  }
  let text = whole.toString();
  if (scale > 1) text += "." + (scale + part).toString().substring(1);
  return minus ? "-" + text : text;
}
