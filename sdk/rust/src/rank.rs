//! The rank hook: what does an offering cost in our eyes?

use crate::abi::{self, Offering, PoolRow, RankOut};
use crate::session::{Call, Labels, Session};
use crate::text::Text;
use crate::Policy;
use core::ops::Deref;

/// Pool is the NodePool in question; its numbers are fields of `row()`.
pub struct Pool<'a>(Call<'a>);

impl<'a> Pool<'a> {
    pub fn row(&self) -> &'a PoolRow {
        let s = (self.0).0;
        s.row(&s.pool, 0)
    }

    pub fn name(&self) -> Text<'a> {
        self.text(self.row().name)
    }

    pub fn labels(&self) -> Labels<'a> {
        (self.0).0.labels(self.row().labels_first, self.row().labels_count)
    }
}

impl<'a> Deref for Pool<'a> {
    type Target = Call<'a>;
    fn deref(&self) -> &Call<'a> {
        &self.0
    }
}

/// Rows are the offerings to price.
pub struct Rows<'a>(&'a Session);

impl<'a> Rows<'a> {
    pub fn len(&self) -> usize {
        self.0.rows.count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn at(&self, i: usize) -> &'a Offering {
        self.0.row(&self.0.rows, i)
    }

    pub fn instance_type(&self, i: usize) -> Text<'a> {
        self.0.text(self.at(i).type_)
    }

    pub fn family(&self, i: usize) -> Text<'a> {
        self.0.text(self.at(i).family)
    }

    pub fn zone(&self, i: usize) -> Text<'a> {
        self.0.text(self.at(i).zone)
    }
}

/// Verdicts are the answers, a row for each offering.
pub struct Verdicts<'a>(&'a Session);

impl Verdicts<'_> {
    fn at(&mut self, i: usize) -> &mut RankOut {
        self.0.answer(i)
    }

    /// score sets the effective cost of offering i in USD/hour: finite, at
    /// least 0.
    pub fn score(&mut self, i: usize, usd: f64) {
        self.at(i).score = usd
    }

    /// max_nodes says for how many nodes the score of offering i holds; 0 is
    /// unlimited.
    pub fn max_nodes(&mut self, i: usize, n: u32) {
        self.at(i).max_nodes = n
    }

    /// group lets the offerings of one group, numbered from 1, use up their
    /// max_nodes together: each node takes 1/max_nodes.
    pub fn group(&mut self, i: usize, group: u32) {
        self.at(i).group = group
    }

    /// shared_group is like group, with one group for all NodePools of the
    /// decision.
    pub fn shared_group(&mut self, i: usize, group: u32) {
        self.at(i).group = group;
        self.at(i).flags |= abi::RANK_SHARED
    }

    /// exclude drops offering i.
    pub fn exclude<'t>(&mut self, i: usize, reason: impl Into<Text<'t>>) {
        self.at(i).flags |= abi::RANK_EXCLUDE;
        self.reason(i, reason)
    }

    /// reason explains the score of offering i.
    pub fn reason<'t>(&mut self, i: usize, reason: impl Into<Text<'t>>) {
        self.at(i).reason = self.0.reason(reason.into())
    }
}

pub fn run<P: Policy>(policy: Option<&mut P>, ptr: usize, size: u32) -> i32 {
    match (Session::open(ptr, size, abi::HOOK_RANK), policy) {
        (Some(s), Some(p)) => {
            p.rank(&Pool(Call(&s)), &Rows(&s), &mut Verdicts(&s));
            s.status()
        }
        _ => abi::REFUSED as i32,
    }
}
