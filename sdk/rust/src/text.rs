//! Texts: views of UTF-8, and lines put together for reasons and logs.

use crate::abi::MAX_MESSAGE;

/// Text is UTF-8 as the host has written it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a>(pub(crate) &'a [u8]);

impl<'a> Text<'a> {
    /// new makes a text of a string.
    pub fn new(s: &'a str) -> Self {
        Text(s.as_bytes())
    }

    /// len is the length in bytes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    pub fn starts_with(&self, start: &str) -> bool {
        self.0.starts_with(start.as_bytes())
    }

    pub fn ends_with(&self, end: &str) -> bool {
        self.0.ends_with(end.as_bytes())
    }

    /// as_str checks the text; one that is not UTF-8 is empty.
    pub fn as_str(&self) -> &'a str {
        core::str::from_utf8(self.0).unwrap_or("")
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(s: &'a str) -> Self {
        Text::new(s)
    }
}

impl<'a> From<&'a Line> for Text<'a> {
    fn from(line: &'a Line) -> Self {
        line.text()
    }
}

const ROOM: usize = MAX_MESSAGE as usize;

/// Line collects a text of at most MAX_MESSAGE bytes; what does not fit is
/// dropped.
pub struct Line {
    bytes: [u8; ROOM],
    len: usize,
}

impl Line {
    pub const fn new() -> Self {
        Line { bytes: [0; ROOM], len: 0 }
    }

    pub fn text(&self) -> Text<'_> {
        Text(&self.bytes[..self.len])
    }

    pub fn clear(&mut self) -> &mut Self {
        self.len = 0;
        self
    }

    pub fn add<'a>(&mut self, text: impl Into<Text<'a>>) -> &mut Self {
        let text = text.into().0;
        let n = text.len().min(ROOM - self.len);
        self.bytes[self.len..self.len + n].copy_from_slice(&text[..n]);
        self.len += n;
        self
    }

    /// number adds a number with at most 9 decimals; beyond 1e15 and for what
    /// is not a number it adds a question mark.
    pub fn number(&mut self, x: f64, decimals: u32) -> &mut Self {
        if !(x > -1e15 && x < 1e15) {
            return self.add("?");
        }
        let decimals = decimals.min(9);
        let scale = 10u64.pow(decimals);
        let x = if x < 0.0 {
            self.add("-");
            -x
        } else {
            x
        };
        let mut whole = x as u64;
        let mut part = ((x - whole as f64) * scale as f64 + 0.5) as u64;
        if part >= scale {
            whole += 1;
            part -= scale;
        }
        let mut digits = [0u8; 32];
        let mut at = digits.len();
        let mut put = |b: u8| {
            at -= 1;
            digits[at] = b;
        };
        for _ in 0..decimals {
            put(b'0' + (part % 10) as u8);
            part /= 10;
        }
        if decimals > 0 {
            put(b'.');
        }
        loop {
            put(b'0' + (whole % 10) as u8);
            whole /= 10;
            if whole == 0 {
                break;
            }
        }
        self.add(Text(&digits[at..]))
    }
}

impl Default for Line {
    fn default() -> Self {
        Line::new()
    }
}

#[link(wasm_import_module = "spokeshave_v1")]
extern "C" {
    #[link_name = "log"]
    fn host_log(level: i32, ptr: *const u8, len: usize);
}

/// log writes a line to the controller's log, 8 KiB a call at most.
pub fn log<'a>(line: impl Into<Text<'a>>) {
    let b = line.into().0;
    unsafe { host_log(0, b.as_ptr(), b.len()) }
}
