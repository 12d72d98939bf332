//! The policy's configuration, a JSON object.

use crate::abi;
use crate::json::{parse, Kind, Value};
use crate::memory::{keep, received};
use crate::text::{Line, Text};
use crate::Policy;

/// Config is read once, before any question. A getter gives the fallback for a
/// key that is absent; a value of the wrong type and a key that nobody reads
/// are errors, which the SDK reports for the author.
pub struct Config {
    root: Value,
    wrong: Line,
    own: Line,
}

impl Config {
    pub fn float(&mut self, key: &str, fallback: f64) -> f64 {
        self.get(key, Kind::Number).map_or(fallback, |v| v.number)
    }

    pub fn string(&mut self, key: &str, fallback: &'static str) -> Text<'static> {
        self.get(key, Kind::Text).map_or(Text::new(fallback), |v| v.text)
    }

    pub fn bool(&mut self, key: &str, fallback: bool) -> bool {
        self.get(key, Kind::Boolean).map_or(fallback, |v| v.number != 0.0)
    }

    /// strings is a list of texts, empty when the key is absent.
    pub fn strings(&mut self, key: &str) -> &'static [Text<'static>] {
        let v = match self.get(key, Kind::List) {
            Some(v) => v,
            None => return &[],
        };
        let out = keep(v.count, Text(&[]));
        for (to, item) in out.iter_mut().zip(v.items()) {
            if item.value.get().kind != Kind::Text {
                self.refuse(key, Kind::List);
                return &[];
            }
            *to = item.value.get().text;
        }
        out
    }

    /// floats is an object whose values are numbers, empty when the key is
    /// absent.
    pub fn floats(&mut self, key: &str) -> &'static [(Text<'static>, f64)] {
        let v = match self.get(key, Kind::Object) {
            Some(v) => v,
            None => return &[],
        };
        let out = keep(v.count, (Text(&[] as &[u8]), 0.0));
        for (to, item) in out.iter_mut().zip(v.items()) {
            if item.value.get().kind != Kind::Number {
                self.refuse(key, Kind::Object);
                return &[];
            }
            *to = (item.value.get().key, item.value.get().number);
        }
        out
    }

    /// error refuses the configuration, for a reason of your own.
    pub fn error<'t>(&mut self, why: impl Into<Text<'t>>) {
        if self.own.text().is_empty() {
            self.own.add(why);
        }
    }

    fn get(&mut self, key: &str, want: Kind) -> Option<Value> {
        let node = self.root.items().find(|n| n.value.get().key == *key)?;
        node.read.set(true);
        if node.value.get().kind == want {
            return Some(node.value.get());
        }
        self.refuse(key, want);
        None
    }

    fn refuse(&mut self, key: &str, want: Kind) {
        if !self.wrong.text().is_empty() {
            return;
        }
        let name = match want {
            Kind::Null => "null",
            Kind::Boolean => "a truth value",
            Kind::Number => "a number",
            Kind::Text => "a text",
            Kind::List => "a list of texts",
            Kind::Object => "an object",
        };
        self.wrong.add("config.").add(key).add(": not ").add(name);
    }

    /// verdict is the error to report, empty for none. A wrong type explains
    /// more than an unknown key, and that more than what the policy itself says.
    fn verdict(&mut self) -> Text<'_> {
        let unknown = self.root.items().filter(|n| !n.read.get()).map(|n| n.value.get().key).min_by_key(|k| k.0);
        if let (true, Some(key)) = (self.wrong.text().is_empty(), unknown) {
            self.wrong.add("config.").add(key).add(": unknown key");
        }
        if self.wrong.text().is_empty() {
            self.own.text()
        } else {
            self.wrong.text()
        }
    }
}

fn word(b: &[u8], at: usize) -> usize {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]]) as usize
}

fn area(b: &[u8], at: usize) -> Option<(usize, usize)> {
    let (offset, size) = (word(b, at), word(b, at + 4));
    if offset as u64 + size as u64 <= word(b, 8) as u64 {
        Some((offset, offset + size))
    } else {
        None
    }
}

pub fn setup<P: Policy>(ptr: usize, size: u32) -> (i32, Option<P>) {
    let refused = abi::REFUSED as i32;
    let b = match received(ptr, size) {
        Some(b) if b.len() >= abi::SETUP_SIZE as usize && &b[..4] == b"SSC1" => b,
        _ => return (refused, None),
    };
    if word(b, 8) < abi::SETUP_SIZE as usize || word(b, 8) > b.len() {
        return (refused, None);
    }
    let (text, message) = match (area(b, 44), area(b, 52)) {
        (Some(text), Some(message)) => (text, message),
        _ => return (refused, None),
    };
    let mut c = Config { root: Value::NULL, wrong: Line::new(), own: Line::new() };
    let mut policy = None;
    match if text.0 == text.1 { Some(Value::NULL) } else { parse(&b[text.0..text.1]) } {
        None => drop(c.wrong.add("config: not JSON")),
        Some(v) if v.kind != Kind::Null && v.kind != Kind::Object => drop(c.wrong.add("config: not an object")),
        Some(v) => {
            c.root = v;
            policy = Some(P::configure(&mut c));
        }
    }
    let said = c.verdict().0;
    if said.is_empty() {
        return (abi::ANSWERED as i32, policy);
    }
    let area = &mut b[message.0..message.1];
    if area.len() >= 8 + said.len() {
        let used = (8 + said.len() + 3) & !3;
        area[..4].copy_from_slice(&(used as u32).to_le_bytes());
        area[4..8].copy_from_slice(&(said.len() as u32).to_le_bytes());
        area[8..8 + said.len()].copy_from_slice(said);
    }
    (refused, None)
}
