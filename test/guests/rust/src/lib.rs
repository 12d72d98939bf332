//! The policy of test/guests/echo in Rust: it uses all of the SDK.
#![no_std]

use spokeshave::abi::{ARCH_ARM64, CAPACITY_SPOT};
use spokeshave::{log, Candidates, Caps, Config, Launches, Line, Offering, Permissions, Policy, Pool, Rows, Scopes, Text, Verdicts};

struct Echo {
    factor: f64,
    label: Text<'static>,
    loud: bool,
    plain: bool,
    avoid: &'static [Text<'static>],
    weights: &'static [(Text<'static>, f64)],
}

impl Echo {
    fn price(&self, o: &Offering) -> f64 {
        let pods = if o.pods_fit > 0 { o.pods_fit as f64 } else { 1.0 };
        let mut eff = o.cost / pods;
        if o.capacity_type as u32 == CAPACITY_SPOT {
            eff *= 1.0 + self.factor * o.interruption;
        }
        let mut cpu = (o.vcpu - pods * 0.5) / o.vcpu;
        let mut memory = (o.memory_gib - pods * 2.0) / o.memory_gib;
        if cpu < 0.0 {
            cpu = 0.0
        }
        if memory < 0.0 {
            memory = 0.0
        }
        eff *= 1.0 + 0.5 * cpu + 0.5 * memory;
        if o.gpus > 0 {
            eff * 4.0
        } else {
            eff
        }
    }
}

impl Policy for Echo {
    fn configure(config: &mut Config) -> Self {
        let echo = Echo {
            factor: config.float("factor", 1.5),
            label: config.string("label", "team"),
            loud: config.bool("loud", false),
            plain: config.bool("plain", false),
            avoid: config.strings("avoid"),
            weights: config.floats("weights"),
        };
        if echo.factor <= 0.0 {
            config.error("config.factor: not positive");
        }
        echo
    }

    fn rank(&mut self, pool: &Pool, rows: &Rows, out: &mut Verdicts) {
        if self.plain {
            for i in 0..rows.len() {
                out.score(i, self.price(rows.at(i)));
            }
            return;
        }
        if pool.name() == "silent" {
            pool.no_opinion();
        }
        if pool.name() == "broken" {
            pool.fail("broken as asked");
        }
        for i in 0..rows.len() {
            let o = rows.at(i);
            let mut sum = o.billed + 2.0 * o.cost + 3.0 * o.on_demand + 5.0 * o.vcpu + 7.0 * o.memory_gib + 11.0 * o.interruption;
            sum += 13.0 * o.pods_fit as f64 + 17.0 * o.gpus as f64 + 19.0 * o.running as f64 + 23.0 * o.capacity_type as f64 + 29.0 * o.arch as f64 + o.flags as f64;
            sum += 31.0 * o.family_on_demand + 37.0 * o.running_cluster as f64;
            if i == 0 {
                let p = pool.row();
                sum += p.pending_cpu + p.pending_memory_gib + p.pending_pods as f64 + p.running_nodes as f64;
                sum += 2.0 * p.spot_nodes as f64 + p.cluster_on_demand;
                sum += (pool.seed() % 97) as f64 + (pool.time() / 1_000_000_000 % 1000) as f64;
            }
            sum += rows.instance_type(i).len() as f64;
            let weight = self.weights.iter().find(|(k, _)| *k == rows.family(i)).map_or(1.0, |(_, w)| *w);
            out.score(i, sum * self.factor * weight);
            if self.avoid.contains(&rows.family(i)) {
                out.exclude(i, "family to avoid");
            } else if rows.zone(i).ends_with("b") {
                out.max_nodes(i, o.pods_fit + 1);
                out.group(i, 7);
                out.reason(i, pool.labels().get(self.label).unwrap_or(Text::new("")));
            } else if o.arch as u32 == ARCH_ARM64 {
                out.max_nodes(i, 9);
                out.shared_group(i, 3);
                out.reason(i, rows.instance_type(i));
            }
        }
    }

    fn consolidate(&mut self, candidates: &Candidates, out: &mut Permissions) {
        for i in 0..candidates.len() {
            let c = candidates.at(i);
            let len = |id: u32| candidates.text(id).len() as f64;
            let mut sum = c.price + 2.0 * c.savings + 3.0 * c.age_seconds + 5.0 * c.idle_seconds + 7.0 * c.cpu_utilisation;
            sum += 11.0 * c.memory_utilisation + 13.0 * c.cost + 17.0 * c.pods as f64 + 19.0 * c.method as f64 + 23.0 * c.action as f64 + 29.0 * c.capacity_type as f64;
            sum += 31.0 * c.job_pods as f64 + 37.0 * c.since_disruption + 41.0 * c.pool_evictions as f64 + 43.0 * c.cluster_evictions as f64 + 47.0 * c.move_cost;
            sum += len(c.node) + 2.0 * len(c.claim) + 3.0 * len(c.pool);
            sum += 5.0 * len(c.type_) + 7.0 * len(c.zone);
            out.cost(i, sum * self.factor);
            match candidates.labels(i).get(self.label) {
                None => out.deny(i, "no label"),
                Some(value) if value == "hold" => {
                    out.hold(i, c.age_seconds / 2.0, candidates.pool_labels(i).get("why").unwrap_or(Text::new("")))
                }
                Some(_) => out.allow(i),
            }
        }
    }

    fn ceiling(&mut self, scopes: &Scopes, launches: &Launches, out: &mut Caps) {
        if self.loud {
            log("asked about spending");
        }
        for i in 0..scopes.len() {
            let s = scopes.at(i);
            if scopes.name(i).starts_with("nodepool/") {
                out.hourly(i, s.running + s.in_flight + s.nodes as f64);
            }
            if s.month_to_date > 0.0 {
                out.monthly(i, self.factor * s.month_to_date);
            }
            if self.loud {
                out.soft(i);
            }
            if s.nodes > 5 {
                out.soft_hourly(i, s.running / 2.0);
            }
            if s.month_to_date > 1.0 {
                out.soft_monthly(i, s.month_to_date);
            }
        }
        for i in 0..launches.len() {
            let l = launches.at(i);
            let len = |id: u32| scopes.text(id).len() as f64;
            let mut sum = l.price + 2.0 * l.worst_price + 3.0 * l.on_demand + 5.0 * l.vcpu + 7.0 * l.memory_gib;
            sum += 11.0 * l.gpus as f64 + 13.0 * l.pods as f64 + 17.0 * l.capacity_type as f64;
            sum += len(l.pool) + 2.0 * len(l.type_) + 3.0 * len(l.family) + 5.0 * len(l.zone);
            if sum > 500.0 {
                out.deny(i, Line::new().add("sum ").number(sum, 2).text());
            }
            if launches.namespaces(i).iter().any(|(ns, _)| ns == "kube-system") {
                out.deny(i, "system");
            }
            if let Some(value) = launches.pool_labels(i).get(self.label) {
                out.deny(i, value);
            }
        }
    }
}

spokeshave::policy!(Echo: rank, consolidate, ceiling);
