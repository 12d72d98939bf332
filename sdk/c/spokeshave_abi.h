/* The rows and numbers of ABI v1. Made from sdk/abi by go generate; do not edit. */
#ifndef SPOKESHAVE_ABI_H
#define SPOKESHAVE_ABI_H

#include <stdint.h>

#define SS_SCOPE_STRIDE 32
#define SS_LAUNCH_STRIDE 88
#define SS_CEILING_OUT_STRIDE 24
#define SS_CEILING_HOURLY 1
#define SS_CEILING_MONTHLY 2
#define SS_CEILING_SOFT 4
#define SS_CEILING_DENY 8
#define SS_CANDIDATE_STRIDE 128
#define SS_CONSOLIDATE_OUT_STRIDE 24
#define SS_METHOD_UNKNOWN 0
#define SS_METHOD_EMPTY 1
#define SS_METHOD_UNDERUTILIZED 2
#define SS_METHOD_DRIFTED 3
#define SS_METHOD_EXPIRED 4
#define SS_ACTION_UNKNOWN 0
#define SS_ACTION_DELETE 1
#define SS_ACTION_REPLACE 2
#define SS_VERDICT_ALLOW 0
#define SS_VERDICT_DENY 1
#define SS_VERDICT_HOLD 2
#define SS_MINOR 0
#define SS_ANSWERED 0
#define SS_NO_OPINION 1
#define SS_REFUSED 2
#define SS_FAILED 3
#define SS_HOOK_RANK 1
#define SS_HOOK_CONSOLIDATE 2
#define SS_HOOK_CEILING 3
#define SS_HEADER_SIZE 128
#define SS_ALIGN 16
#define SS_INDEX_STRIDE 8
#define SS_PAIR_STRIDE 8
#define SS_MAX_MESSAGE 512
#define SS_POOL_STRIDE 48
#define SS_RANK_STRIDE 96
#define SS_RANK_OUT_STRIDE 24
#define SS_CAPACITY_UNKNOWN 0
#define SS_CAPACITY_ON_DEMAND 1
#define SS_CAPACITY_SPOT 2
#define SS_CAPACITY_RESERVED 3
#define SS_ARCH_UNKNOWN 0
#define SS_ARCH_AMD64 1
#define SS_ARCH_ARM64 2
#define SS_RANK_EXCLUDE 1
#define SS_RANK_SHARED 2
#define SS_SETUP_SIZE 64

// Spend is what a scope spends: USD per hour running and in flight, USD since
// the first of the month (UTC). Scope is a string id.
typedef struct {
  double running;
  double in_flight;
  double month_to_date;
  uint32_t scope;
  uint32_t nodes;
} ss_spend;
_Static_assert(sizeof(ss_spend) == 32, "wire size");

// Launch is a node that the plan would launch. Prices are in USD per hour;
// Pool, Type, Family and Zone are string ids. Namespaces are pairs whose value
// is empty.
typedef struct {
  double price;
  double worst_price;
  double on_demand;
  double vcpu;
  double memory_gib;
  uint32_t pool;
  uint32_t type;
  uint32_t family;
  uint32_t zone;
  uint32_t gpus;
  uint32_t pods;
  uint32_t pool_labels_first;
  uint32_t pool_labels_count;
  uint32_t namespaces_first;
  uint32_t namespaces_count;
  uint8_t capacity_type;
  uint8_t flags;
  uint8_t zero_82_[6];
} ss_launch;
_Static_assert(sizeof(ss_launch) == 88, "wire size");

// CeilingOut is the cap of a scope or the verdict on a launch: the out section
// has a row for every scope, then a row for every launch, then a row for every
// scope again: a soft cap beside its cap, with CeilingHourly and CeilingMonthly
// for flags.
typedef struct {
  double hourly_usd;
  double monthly_usd;
  uint32_t flags;
  uint32_t reason;
} ss_ceiling_out;
_Static_assert(sizeof(ss_ceiling_out) == 24, "wire size");

// Candidate is a node that could be disrupted. Prices are in USD per hour;
// Node, Claim, Pool, Type and Zone are string ids. JobPods are the node's pods
// that belong to a Job. SinceDisruption is the time since a node of the
// NodePool last began to go, -1 if none did within the hour; PoolEvictions and
// ClusterEvictions count the pods that such nodes had within the hour. MoveCost
// is what the moves of the node's pods have to save.
typedef struct {
  double price;
  double savings;
  double age_seconds;
  double idle_seconds;
  double cpu_utilisation; // requests / allocatable
  double memory_utilisation; // requests / allocatable
  double cost; // disruption cost so far
  uint32_t node;
  uint32_t claim;
  uint32_t pool;
  uint32_t type;
  uint32_t zone;
  uint32_t pods;
  uint32_t labels_first;
  uint32_t labels_count;
  uint32_t pool_labels_first;
  uint32_t pool_labels_count;
  uint8_t method;
  uint8_t action;
  uint8_t capacity_type;
  uint8_t flags;
  uint32_t job_pods;
  double since_disruption; // seconds
  uint32_t pool_evictions;
  uint32_t cluster_evictions;
  double move_cost;
} ss_candidate;
_Static_assert(sizeof(ss_candidate) == 128, "wire size");

// ConsolidateOut is the answer for one candidate. HoldSeconds counts from the
// decision's time, Cost is added to the disruption cost.
typedef struct {
  double hold_seconds;
  double cost;
  uint32_t verdict;
  uint32_t reason;
} ss_consolidate_out;
_Static_assert(sizeof(ss_consolidate_out) == 24, "wire size");

// PoolRow is the NodePool that a rank batch is about. Like every record here
// its fields have the order and alignment of the wire, so that a guest on a
// little-endian machine may read it in place.
typedef struct {
  double pending_cpu; // vCPU
  double pending_memory_gib;
  uint32_t name;
  uint32_t labels_first;
  uint32_t labels_count;
  uint32_t pending_pods;
  uint32_t running_nodes;
  uint32_t spot_nodes; // of RunningNodes
  double cluster_on_demand; // on-demand price of all on-demand nodes, USD/hour
} ss_pool_row;
_Static_assert(sizeof(ss_pool_row) == 48, "wire size");

// Offering is one offering. Prices are in USD per hour, Interruption is the
// share of spot instances interrupted per month; Zone, Family and Type are
// string ids. Running counts the NodePool's nodes of the offering,
// RunningCluster those of all NodePools; FamilyOnDemand is the on-demand price
// of all on-demand nodes of the family.
typedef struct {
  double billed;
  double cost;
  double on_demand;
  double vcpu;
  double memory_gib;
  double interruption;
  uint32_t pods_fit;
  uint32_t gpus;
  uint32_t zone;
  uint32_t family;
  uint32_t type;
  uint32_t running;
  uint8_t capacity_type;
  uint8_t arch;
  uint8_t flags;
  uint8_t zero_75_[5];
  double family_on_demand;
  uint32_t running_cluster;
  uint8_t zero_92_[4];
} ss_offering;
_Static_assert(sizeof(ss_offering) == 96, "wire size");

// RankOut is the answer for one offering. Score is in USD per hour, Reason a
// message (0 is none). Offerings with the same Group, if it is not 0, use up
// their MaxNodes together: each node takes 1/MaxNodes of it. The host presets
// Score to the cost so far.
typedef struct {
  double score;
  uint32_t max_nodes;
  uint32_t flags;
  uint32_t reason;
  uint32_t group;
} ss_rank_out;
_Static_assert(sizeof(ss_rank_out) == 24, "wire size");

#endif
