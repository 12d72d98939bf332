//! The consolidate hook: may this node go?

use crate::abi::{self, Candidate, ConsolidateOut};
use crate::session::{Call, Labels, Session};
use crate::text::Text;
use crate::Policy;
use core::ops::Deref;

/// Candidates are the nodes in question.
pub struct Candidates<'a>(Call<'a>);

impl<'a> Candidates<'a> {
    pub fn len(&self) -> usize {
        (self.0).0.rows.count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn at(&self, i: usize) -> &'a Candidate {
        let s = (self.0).0;
        s.row(&s.rows, i)
    }

    pub fn node(&self, i: usize) -> Text<'a> {
        self.text(self.at(i).node)
    }

    pub fn node_pool(&self, i: usize) -> Text<'a> {
        self.text(self.at(i).pool)
    }

    /// labels are those of candidate i's node.
    pub fn labels(&self, i: usize) -> Labels<'a> {
        (self.0).0.labels(self.at(i).labels_first, self.at(i).labels_count)
    }

    /// pool_labels are those of candidate i's NodePool.
    pub fn pool_labels(&self, i: usize) -> Labels<'a> {
        (self.0).0.labels(self.at(i).pool_labels_first, self.at(i).pool_labels_count)
    }
}

impl<'a> Deref for Candidates<'a> {
    type Target = Call<'a>;
    fn deref(&self) -> &Call<'a> {
        &self.0
    }
}

/// Permissions are the answers, a row for each candidate; it starts as denied.
pub struct Permissions<'a>(&'a Session);

impl Permissions<'_> {
    fn at(&mut self, i: usize) -> &mut ConsolidateOut {
        self.0.answer(i)
    }

    /// allow lets candidate i be disrupted.
    pub fn allow(&mut self, i: usize) {
        self.at(i).verdict = abi::VERDICT_ALLOW
    }

    /// deny protects candidate i.
    pub fn deny<'t>(&mut self, i: usize, reason: impl Into<Text<'t>>) {
        let reason = self.0.reason(reason.into());
        let out = self.at(i);
        out.verdict = abi::VERDICT_DENY;
        out.reason = reason
    }

    /// hold protects candidate i for some seconds from the decision's time.
    pub fn hold<'t>(&mut self, i: usize, seconds: f64, reason: impl Into<Text<'t>>) {
        let reason = self.0.reason(reason.into());
        let out = self.at(i);
        out.verdict = abi::VERDICT_HOLD;
        out.hold_seconds = seconds;
        out.reason = reason
    }

    /// cost adds to the disruption cost of candidate i: finite, at least 0.
    pub fn cost(&mut self, i: usize, cost: f64) {
        self.at(i).cost = cost
    }
}

pub fn run<P: Policy>(policy: Option<&mut P>, ptr: usize, size: u32) -> i32 {
    match (Session::open(ptr, size, abi::HOOK_CONSOLIDATE), policy) {
        (Some(s), Some(p)) => {
            p.consolidate(&Candidates(Call(&s)), &mut Permissions(&s));
            s.status()
        }
        _ => abi::REFUSED as i32,
    }
}
