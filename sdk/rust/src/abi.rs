//! The rows and numbers of ABI v1. Made from sdk/abi by go generate; do not edit.

pub const SCOPE_STRIDE: u32 = 32;
pub const LAUNCH_STRIDE: u32 = 88;
pub const CEILING_OUT_STRIDE: u32 = 24;
pub const CEILING_HOURLY: u32 = 1;
pub const CEILING_MONTHLY: u32 = 2;
pub const CEILING_SOFT: u32 = 4;
pub const CEILING_DENY: u32 = 8;
pub const CANDIDATE_STRIDE: u32 = 128;
pub const CONSOLIDATE_OUT_STRIDE: u32 = 24;
pub const METHOD_UNKNOWN: u32 = 0;
pub const METHOD_EMPTY: u32 = 1;
pub const METHOD_UNDERUTILIZED: u32 = 2;
pub const METHOD_DRIFTED: u32 = 3;
pub const METHOD_EXPIRED: u32 = 4;
pub const ACTION_UNKNOWN: u32 = 0;
pub const ACTION_DELETE: u32 = 1;
pub const ACTION_REPLACE: u32 = 2;
pub const VERDICT_ALLOW: u32 = 0;
pub const VERDICT_DENY: u32 = 1;
pub const VERDICT_HOLD: u32 = 2;
pub const MINOR: u32 = 0;
pub const ANSWERED: u32 = 0;
pub const NO_OPINION: u32 = 1;
pub const REFUSED: u32 = 2;
pub const FAILED: u32 = 3;
pub const HOOK_RANK: u32 = 1;
pub const HOOK_CONSOLIDATE: u32 = 2;
pub const HOOK_CEILING: u32 = 3;
pub const HEADER_SIZE: u32 = 128;
pub const ALIGN: u32 = 16;
pub const INDEX_STRIDE: u32 = 8;
pub const PAIR_STRIDE: u32 = 8;
pub const MAX_MESSAGE: u32 = 512;
pub const POOL_STRIDE: u32 = 48;
pub const RANK_STRIDE: u32 = 96;
pub const RANK_OUT_STRIDE: u32 = 24;
pub const CAPACITY_UNKNOWN: u32 = 0;
pub const CAPACITY_ON_DEMAND: u32 = 1;
pub const CAPACITY_SPOT: u32 = 2;
pub const CAPACITY_RESERVED: u32 = 3;
pub const ARCH_UNKNOWN: u32 = 0;
pub const ARCH_AMD64: u32 = 1;
pub const ARCH_ARM64: u32 = 2;
pub const RANK_EXCLUDE: u32 = 1;
pub const RANK_SHARED: u32 = 2;
pub const SETUP_SIZE: u32 = 64;

/// Spend is what a scope spends: USD per hour running and in flight, USD since
/// the first of the month (UTC). Scope is a string id.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Spend {
    pub running: f64,
    pub in_flight: f64,
    pub month_to_date: f64,
    pub scope: u32,
    pub nodes: u32,
}
const _: () = assert!(core::mem::size_of::<Spend>() == 32);

/// Launch is a node that the plan would launch. Prices are in USD per hour;
/// Pool, Type, Family and Zone are string ids. Namespaces are pairs whose value
/// is empty.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    pub price: f64,
    pub worst_price: f64,
    pub on_demand: f64,
    pub vcpu: f64,
    pub memory_gib: f64,
    pub pool: u32,
    pub type_: u32,
    pub family: u32,
    pub zone: u32,
    pub gpus: u32,
    pub pods: u32,
    pub pool_labels_first: u32,
    pub pool_labels_count: u32,
    pub namespaces_first: u32,
    pub namespaces_count: u32,
    pub capacity_type: u8,
    pub flags: u8,
    pub(crate) _zero_82: [u8; 6],
}
const _: () = assert!(core::mem::size_of::<Launch>() == 88);

/// CeilingOut is the cap of a scope or the verdict on a launch: the out section
/// has a row for every scope, then a row for every launch, then a row for every
/// scope again: a soft cap beside its cap, with CeilingHourly and
/// CeilingMonthly for flags.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CeilingOut {
    pub hourly_usd: f64,
    pub monthly_usd: f64,
    pub flags: u32,
    pub reason: u32,
}
const _: () = assert!(core::mem::size_of::<CeilingOut>() == 24);

/// Candidate is a node that could be disrupted. Prices are in USD per hour;
/// Node, Claim, Pool, Type and Zone are string ids. JobPods are the node's pods
/// that belong to a Job. SinceDisruption is the time since a node of the
/// NodePool last began to go, -1 if none did within the hour; PoolEvictions and
/// ClusterEvictions count the pods that such nodes had within the hour.
/// MoveCost is what the moves of the node's pods have to save.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub price: f64,
    pub savings: f64,
    pub age_seconds: f64,
    pub idle_seconds: f64,
    pub cpu_utilisation: f64, // requests / allocatable
    pub memory_utilisation: f64, // requests / allocatable
    pub cost: f64, // disruption cost so far
    pub node: u32,
    pub claim: u32,
    pub pool: u32,
    pub type_: u32,
    pub zone: u32,
    pub pods: u32,
    pub labels_first: u32,
    pub labels_count: u32,
    pub pool_labels_first: u32,
    pub pool_labels_count: u32,
    pub method: u8,
    pub action: u8,
    pub capacity_type: u8,
    pub flags: u8,
    pub job_pods: u32,
    pub since_disruption: f64, // seconds
    pub pool_evictions: u32,
    pub cluster_evictions: u32,
    pub move_cost: f64,
}
const _: () = assert!(core::mem::size_of::<Candidate>() == 128);

/// ConsolidateOut is the answer for one candidate. HoldSeconds counts from the
/// decision's time, Cost is added to the disruption cost.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ConsolidateOut {
    pub hold_seconds: f64,
    pub cost: f64,
    pub verdict: u32,
    pub reason: u32,
}
const _: () = assert!(core::mem::size_of::<ConsolidateOut>() == 24);

/// PoolRow is the NodePool that a rank batch is about. Like every record here
/// its fields have the order and alignment of the wire, so that a guest on a
/// little-endian machine may read it in place.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PoolRow {
    pub pending_cpu: f64, // vCPU
    pub pending_memory_gib: f64,
    pub name: u32,
    pub labels_first: u32,
    pub labels_count: u32,
    pub pending_pods: u32,
    pub running_nodes: u32,
    pub spot_nodes: u32, // of RunningNodes
    pub cluster_on_demand: f64, // on-demand price of all on-demand nodes, USD/hour
}
const _: () = assert!(core::mem::size_of::<PoolRow>() == 48);

/// Offering is one offering. Prices are in USD per hour, Interruption is the
/// share of spot instances interrupted per month; Zone, Family and Type are
/// string ids. Running counts the NodePool's nodes of the offering,
/// RunningCluster those of all NodePools; FamilyOnDemand is the on-demand price
/// of all on-demand nodes of the family.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Offering {
    pub billed: f64,
    pub cost: f64,
    pub on_demand: f64,
    pub vcpu: f64,
    pub memory_gib: f64,
    pub interruption: f64,
    pub pods_fit: u32,
    pub gpus: u32,
    pub zone: u32,
    pub family: u32,
    pub type_: u32,
    pub running: u32,
    pub capacity_type: u8,
    pub arch: u8,
    pub flags: u8,
    pub(crate) _zero_75: [u8; 5],
    pub family_on_demand: f64,
    pub running_cluster: u32,
    pub(crate) _zero_92: [u8; 4],
}
const _: () = assert!(core::mem::size_of::<Offering>() == 96);

/// RankOut is the answer for one offering. Score is in USD per hour, Reason a
/// message (0 is none). Offerings with the same Group, if it is not 0, use up
/// their MaxNodes together: each node takes 1/MaxNodes of it. The host presets
/// Score to the cost so far.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct RankOut {
    pub score: f64,
    pub max_nodes: u32,
    pub flags: u32,
    pub reason: u32,
    pub group: u32,
}
const _: () = assert!(core::mem::size_of::<RankOut>() == 24);
