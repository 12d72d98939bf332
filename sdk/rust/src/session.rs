//! The batch being answered: strings, labels, reasons, status.

use crate::abi;
use crate::memory::received;
use crate::text::Text;
use core::cell::{Cell, RefCell};

/// Section is a table of equal records.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    pub offset: usize,
    pub size: usize,
    pub count: usize,
    pub stride: usize,
}

const POOL: usize = 40;
const ROWS: usize = 56;
const INDEX: usize = 72;
const BYTES: usize = 88;
const OUT: usize = 96;
const MESSAGE: usize = 112;
const PAIRS: usize = 120;

/// Session is a checked batch. Rows are read in place while answers are
/// written to other parts of it, through pointers whose place has been checked.
pub struct Session {
    base: *mut u8,
    pub(crate) pool: Section,
    pub(crate) rows: Section,
    pub(crate) out: Section,
    index: Section,
    bytes: (usize, usize),
    message: (usize, usize),
    pairs: (usize, usize),
    reasons: RefCell<([u32; 8], usize)>,
    failed: Cell<bool>,
    silent: Cell<bool>,
}

fn word(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn span(b: &[u8], at: usize) -> Option<(usize, usize)> {
    let (offset, size) = (word(b, at) as usize, word(b, at + 4) as usize);
    let inside = offset >= abi::HEADER_SIZE as usize && offset % abi::ALIGN as usize == 0 && offset as u64 + size as u64 <= word(b, 8) as u64;
    if size == 0 || inside {
        Some((offset, size))
    } else {
        None
    }
}

fn section(b: &[u8], at: usize, stride: u32) -> Option<Section> {
    let (offset, size) = span(b, at)?;
    let s = Section { offset, size, count: word(b, at + 8) as usize, stride: word(b, at + 12) as usize };
    let fits = s.stride >= stride as usize && s.stride % 8 == 0 && s.count as u64 * s.stride as u64 <= s.size as u64;
    if s.count == 0 || fits {
        Some(s)
    } else {
        None
    }
}

impl Session {
    /// open checks a batch of a hook.
    pub(crate) fn open(ptr: usize, size: u32, hook: u32) -> Option<Session> {
        let b = received(ptr, size)?;
        if b.len() < abi::HEADER_SIZE as usize || &b[..4] != b"SSV1" || word(b, 4) >> 16 != hook {
            return None;
        }
        if word(b, 8) > size || word(b, 8) < abi::HEADER_SIZE {
            return None;
        }
        let (pool, row) = match hook {
            abi::HOOK_RANK => (abi::POOL_STRIDE, abi::RANK_STRIDE),
            abi::HOOK_CEILING => (abi::SCOPE_STRIDE, abi::LAUNCH_STRIDE),
            _ => (0, abi::CANDIDATE_STRIDE),
        };
        let s = Session {
            base: b.as_mut_ptr(),
            pool: section(b, POOL, pool)?,
            rows: section(b, ROWS, row)?,
            out: section(b, OUT, abi::RANK_OUT_STRIDE)?,
            index: section(b, INDEX, abi::INDEX_STRIDE)?,
            bytes: span(b, BYTES)?,
            message: span(b, MESSAGE)?,
            pairs: span(b, PAIRS)?,
            reasons: RefCell::new(([0; 8], 0)),
            failed: Cell::new(false),
            silent: Cell::new(false),
        };
        if hook == abi::HOOK_RANK && s.pool.count == 0 {
            return None;
        }
        s.reset();
        Some(s)
    }

    pub(crate) fn status(&self) -> i32 {
        let status = match (self.failed.get(), self.silent.get()) {
            (true, _) => abi::FAILED,
            (_, true) => abi::NO_OPINION,
            _ => abi::ANSWERED,
        };
        status as i32
    }

    /// row is record i of an input section; an index outside ends the module.
    #[inline(always)]
    pub(crate) fn row<T>(&self, s: &Section, i: usize) -> &T {
        if i >= s.count {
            core::arch::wasm32::unreachable()
        }
        unsafe { &*(self.base.add(s.offset + i * s.stride) as *const T) }
    }

    /// answer is out row i.
    #[inline(always)]
    #[allow(clippy::mut_from_ref)] // out rows and input rows never overlap, and one caller writes
    pub(crate) fn answer<T>(&self, i: usize) -> &mut T {
        if i >= self.out.count {
            core::arch::wasm32::unreachable()
        }
        unsafe { &mut *(self.base.add(self.out.offset + i * self.out.stride) as *mut T) }
    }

    fn read(&self, at: usize) -> u32 {
        unsafe { (self.base.add(at) as *const u32).read_unaligned() }
    }

    fn write(&self, at: usize, value: u32) {
        unsafe { (self.base.add(at) as *mut u32).write_unaligned(value) }
    }

    fn slice(&self, at: usize, size: usize) -> &[u8] {
        unsafe { core::slice::from_raw_parts(self.base.add(at), size) }
    }

    /// text is the string with an id; that of an id which does not exist is
    /// empty.
    pub(crate) fn text(&self, id: u32) -> Text<'_> {
        let id = id as usize;
        if id >= self.index.count {
            return Text(&[]);
        }
        let entry = self.index.offset + id * self.index.stride;
        let (at, size) = (self.read(entry), self.read(entry + 4));
        if at as u64 + size as u64 > self.bytes.1 as u64 {
            return Text(&[]);
        }
        Text(self.slice(self.bytes.0 + at as usize, size as usize))
    }

    pub(crate) fn labels(&self, first: u32, count: u32) -> Labels<'_> {
        Labels { session: self, first, count }
    }

    fn reset(&self) {
        *self.reasons.borrow_mut() = ([0; 8], 0);
        if self.message.1 >= 4 {
            self.write(self.message.0, 4);
        }
    }

    fn append(&self, text: &[u8]) -> u32 {
        let (area, room) = self.message;
        if room < 4 {
            return 0;
        }
        let at = self.read(area);
        let end = at as u64 + 4 + text.len() as u64;
        if end > room as u64 {
            return 0;
        }
        self.write(area + at as usize, text.len() as u32);
        unsafe { self.base.add(area + at as usize + 4).copy_from(text.as_ptr(), text.len()) };
        self.write(area, ((end + 3) & !3) as u32);
        at
    }

    /// reason gives a text's place in the message area, writing it once for a
    /// run of equal ones.
    pub(crate) fn reason(&self, text: Text) -> u32 {
        let text = &text.0[..text.len().min(abi::MAX_MESSAGE as usize)];
        if text.is_empty() {
            return 0;
        }
        let mut known = self.reasons.borrow_mut();
        for &at in known.0.iter() {
            let place = self.message.0 + at as usize;
            if at != 0 && self.slice(place + 4, self.read(place) as usize) == text {
                return at;
            }
        }
        let at = self.append(text);
        if at != 0 {
            let next = known.1;
            known.0[next % 8] = at;
            known.1 += 1;
        }
        at
    }

    fn fail(&self, why: Text) {
        self.failed.set(true);
        self.reset();
        let why = if why.is_empty() { Text::new("failed") } else { why };
        self.append(&why.0[..why.len().min(abi::MAX_MESSAGE as usize)]);
    }
}

/// Call is the decision's time and seed, the only ones there are, and two ways
/// to leave the question open.
#[derive(Clone, Copy)]
pub struct Call<'a>(pub(crate) &'a Session);

impl<'a> Call<'a> {
    fn long(&self, at: usize) -> u64 {
        self.0.read(at) as u64 | (self.0.read(at + 4) as u64) << 32
    }

    /// time is in nanoseconds since 1970, UTC.
    pub fn time(&self) -> i64 {
        self.long(16) as i64
    }

    /// generation identifies the catalogue: the ids of types, families and
    /// zones stay the same while it does, unless it is 0.
    pub fn generation(&self) -> u64 {
        self.long(24)
    }

    pub fn seed(&self) -> u64 {
        self.long(32)
    }

    /// text is the text of a string id, such as `Offering::family`.
    pub fn text(&self, id: u32) -> Text<'a> {
        self.0.text(id)
    }

    /// fail gives up on the batch: the policy's failurePolicy applies, and the
    /// text appears in its status.
    pub fn fail<'b>(&self, why: impl Into<Text<'b>>) {
        self.0.fail(why.into())
    }

    /// no_opinion leaves the question to other policies, whatever the answers
    /// say.
    pub fn no_opinion(&self) {
        self.0.silent.set(true)
    }
}

/// Labels is a label set of the batch.
#[derive(Clone, Copy)]
pub struct Labels<'a> {
    session: &'a Session,
    first: u32,
    count: u32,
}

impl<'a> Labels<'a> {
    pub fn len(&self) -> usize {
        self.count as usize
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// iter gives keys and values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (Text<'a>, Text<'a>)> {
        let (session, first, count) = (self.session, self.first as u64, self.count as u64);
        (first..first + count).map_while(move |i| {
            let at = i * abi::PAIR_STRIDE as u64;
            if at + abi::PAIR_STRIDE as u64 > session.pairs.1 as u64 {
                return None;
            }
            let at = session.pairs.0 + at as usize;
            Some((session.text(session.read(at)), session.text(session.read(at + 4))))
        })
    }

    /// get is a label's value.
    pub fn get<'k>(&self, key: impl Into<Text<'k>>) -> Option<Text<'a>> {
        let key = key.into();
        self.iter().find(|(k, _)| k.0 == key.0).map(|(_, v)| v)
    }
}

