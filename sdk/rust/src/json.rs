//! A reader of JSON, for configurations. Values and texts are kept for good.

use crate::memory::keep;
use crate::text::Text;
use core::cell::Cell;

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Null,
    Boolean,
    Number,
    Text,
    List,
    Object,
}

/// Value is a JSON value; those of a list or an object are chained.
#[derive(Clone, Copy)]
pub struct Value {
    pub kind: Kind,
    pub key: Text<'static>,
    pub text: Text<'static>,
    pub number: f64, // 1 for true
    pub count: usize,
    pub first: Option<&'static Node>,
}

pub struct Node {
    pub value: Cell<Value>,
    pub next: Cell<Option<&'static Node>>,
    pub read: Cell<bool>,
}

impl Value {
    pub const NULL: Value =
        Value { kind: Kind::Null, key: Text(&[]), text: Text(&[]), number: 0.0, count: 0, first: None };

    pub fn items(&self) -> Items {
        Items(self.first)
    }
}

pub struct Items(Option<&'static Node>);

impl Iterator for Items {
    type Item = &'static Node;
    fn next(&mut self) -> Option<&'static Node> {
        let node = self.0?;
        self.0 = node.next.get();
        Some(node)
    }
}

const MAX_DEPTH: u32 = 32;

pub fn parse(b: &[u8]) -> Option<Value> {
    let mut p = Parser { b, at: 0 };
    let v = p.value(0)?;
    match p.peek() {
        0 => Some(v),
        _ => None,
    }
}

struct Parser<'a> {
    b: &'a [u8],
    at: usize,
}

fn node() -> &'static Node {
    // keep wants Copy: a node is one word of Option, filled in at once.
    let place = keep::<[u64; (core::mem::size_of::<Node>() + 7) / 8]>(1, [0; (core::mem::size_of::<Node>() + 7) / 8]);
    let place = place.as_mut_ptr() as *mut Node;
    unsafe {
        place.write(Node { value: Cell::new(Value::NULL), next: Cell::new(None), read: Cell::new(false) });
        &*place
    }
}

impl Parser<'_> {
    /// peek skips blanks and gives the next byte, 0 at the end.
    fn peek(&mut self) -> u8 {
        while let Some(&c) = self.b.get(self.at) {
            match c {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                _ => return c,
            }
        }
        0
    }

    fn next(&mut self) -> Option<u8> {
        let c = *self.b.get(self.at)?;
        self.at += 1;
        Some(c)
    }

    fn accept(&mut self, c: u8) -> bool {
        let found = self.peek() == c;
        self.at += found as usize;
        found
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek() {
            b'"' => Some(Value { kind: Kind::Text, text: self.text()?, ..Value::NULL }),
            b'{' => self.items(Kind::Object, b'}', depth),
            b'[' => self.items(Kind::List, b']', depth),
            _ => self.word(),
        }
    }

    fn items(&mut self, kind: Kind, end: u8, depth: u32) -> Option<Value> {
        let mut v = Value { kind, ..Value::NULL };
        self.at += 1;
        if self.accept(end) {
            return Some(v);
        }
        let mut last: Option<&'static Node> = None;
        loop {
            let mut key = Text(&[]);
            if kind == Kind::Object {
                if self.peek() != b'"' {
                    return None;
                }
                key = self.text()?;
                if !self.accept(b':') {
                    return None;
                }
            }
            let n = node();
            n.value.set(Value { key, ..self.value(depth + 1)? });
            match last {
                Some(before) => before.next.set(Some(n)),
                None => v.first = Some(n),
            }
            last = Some(n);
            v.count += 1;
            if self.accept(end) {
                return Some(v);
            }
            if !self.accept(b',') {
                return None;
            }
        }
    }

    fn word(&mut self) -> Option<Value> {
        let start = self.at;
        while let Some(&c) = self.b.get(self.at) {
            if c <= b' ' || matches!(c, b',' | b']' | b'}' | b':') {
                break;
            }
            self.at += 1;
        }
        match &self.b[start..self.at] {
            b"null" => Some(Value::NULL),
            b"true" => Some(Value { kind: Kind::Boolean, number: 1.0, ..Value::NULL }),
            b"false" => Some(Value { kind: Kind::Boolean, ..Value::NULL }),
            w => Some(Value { kind: Kind::Number, number: number(w)?, ..Value::NULL }),
        }
    }

    fn text(&mut self) -> Option<Text<'static>> {
        self.at += 1;
        let mut end = self.at;
        while *self.b.get(end)? != b'"' {
            end += 1 + (self.b[end] == b'\\') as usize;
        }
        let to = keep::<u8>(end - self.at + 4, 0); // a decoded text is never longer
        let mut size = 0;
        loop {
            let c = self.next()?;
            match c {
                b'"' => break,
                b'\\' => size += self.escape(&mut to[size..])?,
                c if c < b' ' => return None,
                c => {
                    to[size] = c;
                    size += 1;
                }
            }
        }
        Some(Text(&to[..size]))
    }

    fn unit(&mut self) -> Option<u32> {
        let mut unit = 0;
        for _ in 0..4 {
            unit = unit << 4 | (self.next()? as char).to_digit(16)?;
        }
        Some(unit)
    }

    fn escape(&mut self, to: &mut [u8]) -> Option<usize> {
        to[0] = match self.next()? {
            c @ (b'"' | b'\\' | b'/') => c,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let mut r = self.unit()?;
                if (0xd800..0xe000).contains(&r) {
                    let mut pair = 0xfffd;
                    if self.b[self.at..].starts_with(b"\\u") {
                        self.at += 2;
                        let low = self.unit()?;
                        if r < 0xdc00 && (0xdc00..0xe000).contains(&low) {
                            pair = 0x10000 + ((r - 0xd800) << 10 | (low - 0xdc00));
                        }
                    }
                    r = pair;
                }
                return Some(char::from_u32(r)?.encode_utf8(to).len());
            }
            _ => return None,
        };
        Some(1)
    }
}

/// number is exact for up to 15 digits and exponents up to 22.
fn number(w: &[u8]) -> Option<f64> {
    let (minus, w) = match w {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, w),
    };
    let (mut i, mut mantissa, mut exponent, mut point, mut digits) = (0, 0u64, 0i32, false, false);
    while i < w.len() {
        match w[i] {
            b'.' if !point => point = true,
            c @ b'0'..=b'9' => {
                digits = true;
                if mantissa < 100_000_000_000_000_000 {
                    mantissa = mantissa * 10 + (c - b'0') as u64;
                    exponent -= point as i32;
                } else {
                    exponent += !point as i32;
                }
            }
            _ => break,
        }
        i += 1;
    }
    if !digits {
        return None;
    }
    if i < w.len() && (w[i] | 0x20) == b'e' {
        i += 1;
        let mut less = false;
        if i < w.len() && matches!(w[i], b'+' | b'-') {
            less = w[i] == b'-';
            i += 1;
        }
        let (start, mut given) = (i, 0);
        while i < w.len() && w[i].is_ascii_digit() {
            if given < 1000 {
                given = given * 10 + (w[i] - b'0') as i32;
            }
            i += 1;
        }
        if i == start {
            return None;
        }
        exponent += if less { -given } else { given };
    }
    if i != w.len() {
        return None;
    }
    if mantissa == 0 {
        exponent = 0;
    }
    let mut scale = 1.0;
    for _ in 0..exponent.abs() {
        scale *= 10.0;
    }
    let x = if exponent < 0 { mantissa as f64 / scale } else { mantissa as f64 * scale };
    Some(if minus { -x } else { x })
}
