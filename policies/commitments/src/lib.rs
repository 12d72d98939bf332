//! commitments: what is paid for already costs nothing, until it is used up.
//! Reserved instances come first, then savings plans of a family, then those
//! for everything. The offerings that share a commitment use it up together.
#![no_std]

use spokeshave::abi::CAPACITY_ON_DEMAND;
use spokeshave::{keep, Config, Policy, Pool, Rows, Text, Verdicts};

/// What is covered costs a thousandth, so that of two covered offerings the
/// cheaper one is still the better.
const COVERED: f64 = 0.001;

struct Commitments {
    reserved: &'static [(Text<'static>, f64)],
    plans: &'static [(Text<'static>, f64)],
    /// left is what regional reservations have left in nodes, plans in dollars.
    left: &'static mut [f64],
}

/// split gives type and zone of a reservation.
fn split<'a>(key: &Text<'a>) -> (&'a [u8], Option<&'a [u8]>) {
    let b = key.bytes();
    match b.iter().position(|c| *c == b'/') {
        Some(at) => (&b[..at], Some(&b[at + 1..])),
        None => (b, None),
    }
}

impl Commitments {
    /// zonal is how many nodes of offering i zonal reservations cover at most.
    fn zonal(&self, rows: &Rows, i: usize) -> f64 {
        let (kind, zone) = (rows.instance_type(i), rows.zone(i));
        self.reserved.iter().find(|(k, _)| split(k) == (kind.bytes(), Some(zone.bytes()))).map_or(0.0, |(_, n)| *n)
    }

    /// beyond is how many nodes of a type run beyond its zonal reservations.
    fn beyond(&self, rows: &Rows, kind: &[u8]) -> f64 {
        let mut sum = 0.0;
        for i in 0..rows.len() {
            let o = rows.at(i);
            if o.capacity_type as u32 == CAPACITY_ON_DEMAND && rows.instance_type(i).bytes() == kind {
                let more = o.running_cluster as f64 - self.zonal(rows, i);
                if more > 0.0 {
                    sum += more;
                }
            }
        }
        sum
    }

    /// reservation is the first that has nodes left for offering i, with their
    /// number.
    fn reservation(&self, rows: &Rows, i: usize) -> Option<(usize, f64)> {
        let (kind, zone) = (rows.instance_type(i), rows.zone(i));
        for zonal in [true, false] {
            for (at, (key, n)) in self.reserved.iter().enumerate() {
                let (k, z) = split(key);
                if k != kind.bytes() || z.is_some() != zonal || zonal && z != Some(zone.bytes()) {
                    continue;
                }
                let left = if zonal { n - rows.at(i).running_cluster as f64 } else { self.left[at] };
                if left >= 1.0 {
                    return Some((at, left));
                }
            }
        }
        None
    }

    /// reserved_usd is what the reservations in use would cost on demand: it
    /// does not use up savings plans. The family is * for all.
    fn reserved_usd(&self, rows: &Rows, family: &[u8]) -> f64 {
        let mut sum = 0.0;
        for (key, n) in self.reserved {
            let (kind, zone) = split(key);
            let mut left = *n;
            for i in 0..rows.len() {
                let o = rows.at(i);
                let ours = o.capacity_type as u32 == CAPACITY_ON_DEMAND
                    && rows.instance_type(i).bytes() == kind
                    && zone.map_or(true, |z| z == rows.zone(i).bytes())
                    && (family == b"*" || rows.family(i).bytes() == family);
                if !ours {
                    continue;
                }
                let mut run = o.running_cluster as f64;
                if zone.is_none() {
                    run -= self.zonal(rows, i);
                }
                let used = if run < left { run } else { left };
                if used > 0.0 {
                    left -= used;
                    sum += used * o.on_demand;
                }
            }
        }
        sum
    }

    /// used is what of a family's plan its on-demand nodes use.
    fn used(&self, rows: &Rows, family: &Text) -> f64 {
        let row = (0..rows.len()).find(|i| rows.family(*i) == *family);
        let running = row.map_or(0.0, |i| rows.at(i).family_on_demand);
        let used = running - self.reserved_usd(rows, family.bytes());
        if used > 0.0 {
            used
        } else {
            0.0
        }
    }

    /// compute is what on-demand nodes use of plans for everything: what
    /// neither reservations nor plans of a family cover.
    fn compute(&self, pool: &Pool, rows: &Rows) -> f64 {
        let mut used = pool.row().cluster_on_demand - self.reserved_usd(rows, b"*");
        for (key, usd) in self.plans.iter().filter(|(k, _)| k.bytes() != b"*") {
            let own = self.used(rows, key);
            used -= if own < *usd { own } else { *usd };
        }
        if used > 0.0 {
            used
        } else {
            0.0
        }
    }

    /// plan is the savings plan that has dollars left for offering i, with
    /// the number of nodes that they cover.
    fn plan(&self, rows: &Rows, i: usize) -> Option<(usize, f64)> {
        let (family, price) = (rows.family(i), rows.at(i).on_demand);
        if price <= 0.0 {
            return None;
        }
        for everything in [false, true] {
            for (at, (key, _)) in self.plans.iter().enumerate() {
                if (key.bytes() == b"*") != everything || !everything && *key != family {
                    continue;
                }
                let nodes = (self.left[self.reserved.len() + at] / price + 1e-9) as u32 as f64;
                if nodes >= 1.0 {
                    return Some((at, nodes));
                }
            }
        }
        None
    }

    /// count looks up what is left of every commitment, once a question.
    fn count(&mut self, pool: &Pool, rows: &Rows) {
        for at in 0..self.reserved.len() {
            let (key, n) = self.reserved[at];
            let (kind, zone) = split(&key);
            self.left[at] = if zone.is_none() { n - self.beyond(rows, kind) } else { 0.0 };
        }
        for at in 0..self.plans.len() {
            let (key, usd) = self.plans[at];
            let used = if key.bytes() == b"*" { self.compute(pool, rows) } else { self.used(rows, &key) };
            self.left[self.reserved.len() + at] = usd - used;
        }
    }
}

impl Policy for Commitments {
    fn configure(config: &mut Config) -> Self {
        let (reserved, plans) = (config.floats("reserved"), config.floats("savingsPlans"));
        let c = Commitments { reserved, plans, left: keep(reserved.len() + plans.len(), 0.0) };
        if c.reserved.iter().chain(c.plans).any(|(_, n)| *n < 0.0) {
            config.error("config: a commitment is negative");
        }
        c
    }

    fn rank(&mut self, pool: &Pool, rows: &Rows, out: &mut Verdicts) {
        self.count(pool, rows);
        for i in 0..rows.len() {
            let o = rows.at(i);
            if o.capacity_type as u32 != CAPACITY_ON_DEMAND {
                continue;
            }
            let (group, nodes, why) = match (self.reservation(rows, i), self.plan(rows, i)) {
                (Some((at, n)), _) => (at, n, "covered by a reservation"),
                (None, Some((at, n))) => (self.reserved.len() + at, n, "covered by a savings plan"),
                (None, None) => continue,
            };
            out.score(i, o.cost * COVERED);
            out.max_nodes(i, nodes as u32);
            out.shared_group(i, group as u32 + 1);
            out.reason(i, why);
        }
    }
}

spokeshave::policy!(Commitments: rank);
