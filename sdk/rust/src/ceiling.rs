//! The ceiling hook: how much may be spent?

use crate::abi::{self, CeilingOut, Launch, Spend};
use crate::session::{Call, Labels, Session};
use crate::text::Text;
use crate::Policy;
use core::ops::Deref;

/// Scopes are the scopes in play: "cluster", "nodepool/<name>",
/// "label/<key>=<value>" and "namespace/<name>".
pub struct Scopes<'a>(Call<'a>);

impl<'a> Scopes<'a> {
    pub fn len(&self) -> usize {
        (self.0).0.pool.count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn at(&self, i: usize) -> &'a Spend {
        let s = (self.0).0;
        s.row(&s.pool, i)
    }

    pub fn name(&self, i: usize) -> Text<'a> {
        self.text(self.at(i).scope)
    }
}

impl<'a> Deref for Scopes<'a> {
    type Target = Call<'a>;
    fn deref(&self) -> &Call<'a> {
        &self.0
    }
}

/// Launches are the launches to review; there are none before the solve.
pub struct Launches<'a>(&'a Session);

impl<'a> Launches<'a> {
    pub fn len(&self) -> usize {
        self.0.rows.count
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn at(&self, i: usize) -> &'a Launch {
        self.0.row(&self.0.rows, i)
    }

    pub fn node_pool(&self, i: usize) -> Text<'a> {
        self.0.text(self.at(i).pool)
    }

    /// pool_labels are those of launch i's NodePool.
    pub fn pool_labels(&self, i: usize) -> Labels<'a> {
        self.0.labels(self.at(i).pool_labels_first, self.at(i).pool_labels_count)
    }

    /// namespaces are those of launch i's pods, as keys without a value.
    pub fn namespaces(&self, i: usize) -> Labels<'a> {
        self.0.labels(self.at(i).namespaces_first, self.at(i).namespaces_count)
    }
}

/// Caps are the answers: caps by scope and refusals by launch.
pub struct Caps<'a>(&'a Session);

impl Caps<'_> {
    fn at(&mut self, i: usize) -> &mut CeilingOut {
        self.0.answer(i)
    }

    /// hourly caps scope i at USD per hour.
    pub fn hourly(&mut self, scope: usize, usd: f64) {
        let out = self.at(scope);
        out.hourly_usd = usd;
        out.flags |= abi::CEILING_HOURLY
    }

    /// monthly caps scope i at USD per month, months in UTC.
    pub fn monthly(&mut self, scope: usize, usd: f64) {
        let out = self.at(scope);
        out.monthly_usd = usd;
        out.flags |= abi::CEILING_MONTHLY
    }

    /// soft makes the caps of scope i warn instead of refuse.
    pub fn soft(&mut self, scope: usize) {
        self.at(scope).flags |= abi::CEILING_SOFT
    }

    /// soft_hourly warns from USD per hour on, beside the caps of scope i.
    pub fn soft_hourly(&mut self, scope: usize, usd: f64) {
        self.hourly(self.0.pool.count + self.0.rows.count + scope, usd)
    }

    /// soft_monthly warns from USD per month on, beside the caps of scope i.
    pub fn soft_monthly(&mut self, scope: usize, usd: f64) {
        self.monthly(self.0.pool.count + self.0.rows.count + scope, usd)
    }

    /// deny refuses launch i.
    pub fn deny<'t>(&mut self, launch: usize, reason: impl Into<Text<'t>>) {
        let reason = self.0.reason(reason.into());
        let out = self.at(self.0.pool.count + launch);
        out.flags = abi::CEILING_DENY;
        out.reason = reason
    }
}

pub fn run<P: Policy>(policy: Option<&mut P>, ptr: usize, size: u32) -> i32 {
    match (Session::open(ptr, size, abi::HOOK_CEILING), policy) {
        (Some(s), Some(p)) => {
            p.ceiling(&Scopes(Call(&s)), &Launches(&s), &mut Caps(&s));
            s.status()
        }
        _ => abi::REFUSED as i32,
    }
}
