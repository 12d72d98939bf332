// The batch being answered: memory, strings, labels, reasons, status.
import {
  ALIGN, ANSWERED, CANDIDATE_STRIDE, FAILED, HEADER_SIZE, HOOK_CEILING, HOOK_RANK, INDEX_STRIDE, LAUNCH_STRIDE, MAX_MESSAGE,
  NO_OPINION, PAIR_STRIDE, POOL_STRIDE, RANK_OUT_STRIDE, RANK_STRIDE, SCOPE_STRIDE,
} from "./abi";
import { placeTexts, Text } from "./text";

const MAX_BATCH: u32 = 12 << 20;

@unmanaged
export class Section {
  offset: u32;
  size: u32;
  count: u32;
  stride: u32;
}

// Header is the start of every batch. The spans have no count and no stride.
@unmanaged
export class Header {
  magic: u32;
  minor: u16;
  hook: u16;
  total: u32;
  zero: u32;
  time: i64;
  generation: u64;
  seed: u64;
}

const POOL = 40;
const ROWS = 56;
const INDEX = 72;
const BYTES = 88;
const OUT = 96;
const MESSAGE = 112;
const PAIRS = 120;

let buffer: usize = 0;
let room: u32 = 0;
let head: usize = 0;
let pairs: usize = 0;
let pairsSize: u32 = 0;
let index: usize = 0;
let indexCount: u32 = 0;
let indexStride: u32 = 0;
let messages: usize = 0;
let messagesSize: u32 = 0;
let failed: bool = false;
let silent: bool = false;
const reasons = memory.data(32);
let next: u32 = 0;
const empty = memory.data(8); // the text of an id that does not exist

// give is the buffer for the host to write into.
export function give(size: u32): usize {
  if (size > MAX_BATCH) return 0;
  if (room < size) {
    if (buffer != 0) heap.free(buffer);
    room = size + size / 4;
    buffer = heap.alloc(room); // 16-aligned
  }
  return buffer;
}

// received says whether the host has written size bytes at ptr.
export function received(ptr: usize, size: u32): bool {
  return ptr != 0 && ptr == buffer && size <= room;
}

function section(at: usize): Section {
  return changetype<Section>(head + at);
}

export function pools(): Section {
  return section(POOL);
}

export function rows(): Section {
  return section(ROWS);
}

export function outs(): Section {
  return section(OUT);
}

// record is record i of a section; an index outside ends the module.
// @ts-ignore: decorator
@inline
export function record(s: Section, i: u32): usize {
  if (i >= s.count) unreachable();
  return head + s.offset + i * s.stride;
}

function inside(at: usize): bool {
  const offset = load<u32>(head + at), size = load<u32>(head + at, 4);
  return size == 0 || (offset >= HEADER_SIZE && offset % ALIGN == 0 && <u64>offset + size <= load<u32>(head, 8));
}

function holds(at: usize, stride: u32): bool {
  const s = section(at);
  return inside(at) && (s.count == 0 || (s.stride >= stride && s.stride % 8 == 0 && <u64>s.count * s.stride <= s.size));
}

// open checks a batch and makes it the current one.
export function open(ptr: usize, size: u32, hook: u32): bool {
  if (!received(ptr, size) || size < HEADER_SIZE) return false;
  const h = changetype<Header>(ptr);
  if (h.magic != 0x31565353 || h.hook != hook || h.total > size || h.total < HEADER_SIZE) return false;
  head = ptr;
  let pool: u32 = 0, row: u32 = CANDIDATE_STRIDE;
  if (hook == HOOK_RANK) {
    pool = POOL_STRIDE;
    row = RANK_STRIDE;
  } else if (hook == HOOK_CEILING) {
    pool = SCOPE_STRIDE;
    row = LAUNCH_STRIDE;
  }
  if (!holds(POOL, pool) || !holds(ROWS, row) || !holds(OUT, RANK_OUT_STRIDE) || !holds(INDEX, INDEX_STRIDE)) return false;
  if (!inside(BYTES) || !inside(MESSAGE) || !inside(PAIRS)) return false;
  if (hook == HOOK_RANK && pools().count == 0) return false;
  index = ptr + section(INDEX).offset;
  indexCount = section(INDEX).count;
  indexStride = section(INDEX).stride;
  placeTexts(ptr + load<u32>(ptr, BYTES));
  pairs = ptr + load<u32>(ptr, PAIRS);
  pairsSize = load<u32>(ptr, PAIRS + 4);
  messages = ptr + load<u32>(ptr, MESSAGE);
  messagesSize = load<u32>(ptr, MESSAGE + 4);
  resetMessages();
  memory.fill(reasons, 0, 32);
  next = 0;
  failed = false;
  silent = false;
  return true;
}

export function status(): i32 {
  if (failed) return FAILED;
  return silent ? NO_OPINION : ANSWERED;
}

// text is the string with an id.
export function text(id: u32): Text {
  if (id < indexCount) {
    const entry = index + id * indexStride;
    if (<u64>load<u32>(entry) + load<u32>(entry, 4) <= load<u32>(head, BYTES + 4)) return changetype<Text>(entry);
  }
  return changetype<Text>(empty);
}

// Labels is a label set of the batch.
export class Labels {
  constructor(private first: u32, private count: u32) {}

  get length(): i32 {
    return <i32>this.count;
  }

  // key and value are label i, in the order of the keys.
  key(i: i32): Text {
    return this.half(<u32>i, 0);
  }

  value(i: i32): Text {
    return this.half(<u32>i, 4);
  }

  // find is the number of the label with a key, or -1.
  find(key: string): i32 {
    for (let i = 0, n = this.length; i < n; i++) if (this.key(i).is(key)) return i;
    return -1;
  }

  has(key: string): bool {
    return this.find(key) >= 0;
  }

  // get is the value of the label with a key; that of none is empty.
  get(key: string): Text {
    const i = this.find(key);
    return i < 0 ? changetype<Text>(empty) : this.value(i);
  }

  private half(i: u32, at: u32): Text {
    const pair = (<u64>this.first + i) * PAIR_STRIDE;
    if (i >= this.count || pair + PAIR_STRIDE > pairsSize) return changetype<Text>(empty);
    return text(load<u32>(pairs + <usize>pair + at));
  }
}

// Call is the decision's time and seed, the only ones there are, and two ways
// to leave the question open.
export class Call {
  // time is in nanoseconds since 1970, UTC.
  get time(): i64 {
    return changetype<Header>(head).time;
  }

  get seed(): u64 {
    return changetype<Header>(head).seed;
  }

  // generation identifies the catalogue: the ids of types, families and zones
  // stay the same while it does, unless it is 0.
  get generation(): u64 {
    return changetype<Header>(head).generation;
  }

  // text is the text of a string id, such as Offering.family.
  text(id: u32): Text {
    return text(id);
  }

  // fail gives up on the batch: the policy's failurePolicy applies, and the
  // text appears in its status.
  fail(why: string): void {
    failed = true;
    memory.fill(reasons, 0, 32);
    resetMessages();
    append(String.UTF8.encode(why == "" ? "failed" : why));
  }

  // noOpinion leaves the question to other policies, whatever the answers say.
  noOpinion(): void {
    silent = true;
  }
}

function resetMessages(): void {
  if (messagesSize >= 4) store<u32>(messages, 4);
}

function append(b: ArrayBuffer): u32 {
  return appendMessage(messages, messagesSize, b);
}

// appendMessage adds a message to an area and gives its offset, 0 when the
// area is full.
export function appendMessage(area: usize, areaSize: u32, b: ArrayBuffer): u32 {
  if (areaSize < 4) return 0;
  const size = min(<u32>b.byteLength, MAX_MESSAGE);
  const at = load<u32>(area);
  const end = <u64>at + 4 + size;
  if (end > areaSize) return 0;
  store<u32>(area + at, size);
  memory.copy(area + at + 4, changetype<usize>(b), size);
  store<u32>(area, <u32>((end + 3) & ~3));
  return at;
}


// reason gives a text's place in the message area, writing it once for a run
// of equal ones.
export function reason(why: string): u32 {
  if (why == "") return 0;
  const b = String.UTF8.encode(why);
  const size = min(<u32>b.byteLength, MAX_MESSAGE);
  for (let i: usize = 0; i < 32; i += 4) {
    const at = load<u32>(reasons + i);
    if (at != 0 && load<u32>(messages + at) == size && memory.compare(messages + at + 4, changetype<usize>(b), size) == 0) return at;
  }
  const at = append(b);
  if (at != 0) store<u32>(reasons + 4 * (next++ % 8), at);
  return at;
}

// @ts-ignore: decorator
@external("spokeshave_v1", "log")
declare function hostLog(level: i32, ptr: usize, size: u32): void;

// log writes a line to the controller's log, 8 KiB a call at most.
export function log(line: string): void {
  const b = String.UTF8.encode(line);
  hostLog(0, changetype<usize>(b), b.byteLength);
}
