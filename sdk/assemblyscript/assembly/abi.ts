// The rows and numbers of ABI v1. Made from sdk/abi by go generate; do not edit.

export const SCOPE_STRIDE: u32 = 32;
export const LAUNCH_STRIDE: u32 = 88;
export const CEILING_OUT_STRIDE: u32 = 24;
export const CEILING_HOURLY: u32 = 1;
export const CEILING_MONTHLY: u32 = 2;
export const CEILING_SOFT: u32 = 4;
export const CEILING_DENY: u32 = 8;
export const CANDIDATE_STRIDE: u32 = 128;
export const CONSOLIDATE_OUT_STRIDE: u32 = 24;
export const METHOD_UNKNOWN: u32 = 0;
export const METHOD_EMPTY: u32 = 1;
export const METHOD_UNDERUTILIZED: u32 = 2;
export const METHOD_DRIFTED: u32 = 3;
export const METHOD_EXPIRED: u32 = 4;
export const ACTION_UNKNOWN: u32 = 0;
export const ACTION_DELETE: u32 = 1;
export const ACTION_REPLACE: u32 = 2;
export const VERDICT_ALLOW: u32 = 0;
export const VERDICT_DENY: u32 = 1;
export const VERDICT_HOLD: u32 = 2;
export const MINOR: u32 = 0;
export const ANSWERED: u32 = 0;
export const NO_OPINION: u32 = 1;
export const REFUSED: u32 = 2;
export const FAILED: u32 = 3;
export const HOOK_RANK: u32 = 1;
export const HOOK_CONSOLIDATE: u32 = 2;
export const HOOK_CEILING: u32 = 3;
export const HEADER_SIZE: u32 = 128;
export const ALIGN: u32 = 16;
export const INDEX_STRIDE: u32 = 8;
export const PAIR_STRIDE: u32 = 8;
export const MAX_MESSAGE: u32 = 512;
export const POOL_STRIDE: u32 = 48;
export const RANK_STRIDE: u32 = 96;
export const RANK_OUT_STRIDE: u32 = 24;
export const CAPACITY_UNKNOWN: u32 = 0;
export const CAPACITY_ON_DEMAND: u32 = 1;
export const CAPACITY_SPOT: u32 = 2;
export const CAPACITY_RESERVED: u32 = 3;
export const ARCH_UNKNOWN: u32 = 0;
export const ARCH_AMD64: u32 = 1;
export const ARCH_ARM64: u32 = 2;
export const RANK_EXCLUDE: u32 = 1;
export const RANK_SHARED: u32 = 2;
export const SETUP_SIZE: u32 = 64;

// Spend is what a scope spends: USD per hour running and in flight, USD since
// the first of the month (UTC). Scope is a string id.
@unmanaged
export class Spend {
  running: f64;
  inFlight: f64;
  monthToDate: f64;
  scope: u32;
  nodes: u32;
}

// Launch is a node that the plan would launch. Prices are in USD per hour;
// Pool, Type, Family and Zone are string ids. Namespaces are pairs whose value
// is empty.
@unmanaged
export class Launch {
  price: f64;
  worstPrice: f64;
  onDemand: f64;
  vcpu: f64;
  memoryGiB: f64;
  pool: u32;
  type: u32;
  family: u32;
  zone: u32;
  gpus: u32;
  pods: u32;
  poolLabelsFirst: u32;
  poolLabelsCount: u32;
  namespacesFirst: u32;
  namespacesCount: u32;
  capacityType: u8;
  flags: u8;
  private zero82: u8;
  private zero83: u8;
  private zero84: u8;
  private zero85: u8;
  private zero86: u8;
  private zero87: u8;
}

// CeilingOut is the cap of a scope or the verdict on a launch: the out section
// has a row for every scope, then a row for every launch, then a row for every
// scope again: a soft cap beside its cap, with CeilingHourly and CeilingMonthly
// for flags.
@unmanaged
export class CeilingOut {
  hourlyUSD: f64;
  monthlyUSD: f64;
  flags: u32;
  reason: u32;
}

// Candidate is a node that could be disrupted. Prices are in USD per hour;
// Node, Claim, Pool, Type and Zone are string ids. JobPods are the node's pods
// that belong to a Job. SinceDisruption is the time since a node of the
// NodePool last began to go, -1 if none did within the hour; PoolEvictions and
// ClusterEvictions count the pods that such nodes had within the hour. MoveCost
// is what the moves of the node's pods have to save.
@unmanaged
export class Candidate {
  price: f64;
  savings: f64;
  ageSeconds: f64;
  idleSeconds: f64;
  cpuUtilisation: f64; // requests / allocatable
  memoryUtilisation: f64; // requests / allocatable
  cost: f64; // disruption cost so far
  node: u32;
  claim: u32;
  pool: u32;
  type: u32;
  zone: u32;
  pods: u32;
  labelsFirst: u32;
  labelsCount: u32;
  poolLabelsFirst: u32;
  poolLabelsCount: u32;
  method: u8;
  action: u8;
  capacityType: u8;
  flags: u8;
  jobPods: u32;
  sinceDisruption: f64; // seconds
  poolEvictions: u32;
  clusterEvictions: u32;
  moveCost: f64;
}

// ConsolidateOut is the answer for one candidate. HoldSeconds counts from the
// decision's time, Cost is added to the disruption cost.
@unmanaged
export class ConsolidateOut {
  holdSeconds: f64;
  cost: f64;
  verdict: u32;
  reason: u32;
}

// PoolRow is the NodePool that a rank batch is about. Like every record here
// its fields have the order and alignment of the wire, so that a guest on a
// little-endian machine may read it in place.
@unmanaged
export class PoolRow {
  pendingCPU: f64; // vCPU
  pendingMemoryGiB: f64;
  name: u32;
  labelsFirst: u32;
  labelsCount: u32;
  pendingPods: u32;
  runningNodes: u32;
  spotNodes: u32; // of RunningNodes
  clusterOnDemand: f64; // on-demand price of all on-demand nodes, USD/hour
}

// Offering is one offering. Prices are in USD per hour, Interruption is the
// share of spot instances interrupted per month; Zone, Family and Type are
// string ids. Running counts the NodePool's nodes of the offering,
// RunningCluster those of all NodePools; FamilyOnDemand is the on-demand price
// of all on-demand nodes of the family.
@unmanaged
export class Offering {
  billed: f64;
  cost: f64;
  onDemand: f64;
  vcpu: f64;
  memoryGiB: f64;
  interruption: f64;
  podsFit: u32;
  gpus: u32;
  zone: u32;
  family: u32;
  type: u32;
  running: u32;
  capacityType: u8;
  arch: u8;
  flags: u8;
  private zero75: u8;
  private zero76: u8;
  private zero77: u8;
  private zero78: u8;
  private zero79: u8;
  familyOnDemand: f64;
  runningCluster: u32;
  private zero92: u8;
  private zero93: u8;
  private zero94: u8;
  private zero95: u8;
}

// RankOut is the answer for one offering. Score is in USD per hour, Reason a
// message (0 is none). Offerings with the same Group, if it is not 0, use up
// their MaxNodes together: each node takes 1/MaxNodes of it. The host presets
// Score to the cost so far.
@unmanaged
export class RankOut {
  score: f64;
  maxNodes: u32;
  flags: u32;
  reason: u32;
  group: u32;
}
