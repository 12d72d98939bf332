// Package rego is the Rego engine of user policies: it compiles *.rego files
// under a strict allow-list, runs the tests they bring along, and answers the
// rank, consolidate and ceiling questions of package policy with them. It is
// the one package that knows OPA.
//
// A policy says what it has to say in one package per hook. Everything else in
// its files (helper rules and functions, other packages) is its own business.
//
//	package spokeshave.rank          # over input.offering, input.pool
//	multiplier[reason] := number     # the cost so far, times all of these,
//	adder[reason] := usd             # plus all of these (USD/hour)
//	exclude contains reason          # not this offering
//
//	package spokeshave.consolidate   # over input.candidate
//	deny contains reason             # leave the node alone
//	hold[reason] := seconds          # leave it alone for so long
//	cost[reason] := number           # added to the disruption cost
//
//	package spokeshave.ceiling       # over input.spend, input.time, input.launch
//	cap[scope] := {"hourly_usd": n, "monthly_usd": n, "soft": bool, "soft_hourly_usd": n, "soft_monthly_usd": n}
//	deny contains reason             # not this launch
//
// Reasons are strings, numbers finite; factors, seconds, costs and caps are
// not negative. Two rules that give one reason (or scope) different values
// conflict, which is a fault of the policy. data.config is the policy's
// configuration, and data.json the rest of data.
//
// # Input
//
// input.offering: instanceType, family, zone, capacityType, arch (strings);
// billed, cost (so far), onDemand (USD/hour), vcpu, memoryGiB, interruption
// (share of spot instances interrupted in a month), podsFit, gpus, running.
//
// input.pool: name, labels, pendingPods, pendingCPU, pendingMemoryGiB,
// runningNodes.
//
// input.candidate: node, claim, nodePool, nodePoolLabels, labels, method
// (Empty, Underutilized, Drifted, Expired), action (delete, replace),
// instanceType, zone, capacityType, price, savings (USD/hour), pods,
// ageSeconds, idleSeconds, cpuUtilisation, memoryUtilisation (requests over
// allocatable), cost (so far).
//
// input.launch: nodePool, nodePoolLabels, instanceType, family, zone,
// capacityType, price, worstPrice, onDemand (USD/hour), vcpu, memoryGiB, gpus,
// pods, namespaces. It is absent when caps are asked for.
//
// input.spend: an object by scope (cluster, nodepool/<name>,
// label/<key>=<value>, namespace/<name>) of runningUSD, inFlightUSD (per
// hour), monthToDateUSD, nodes. input.time: the decision's time, RFC 3339 in
// UTC; time.now_ns() is the same moment.
//
// A field that is none of these is refused when the policy is loaded.
//
// # How rules are run
//
// When a policy is loaded, each rule is partially evaluated with all of the
// input unknown, and what is left becomes a program over typed fields: 1,000
// offerings take a third of a millisecond. A rule that partial evaluation
// cannot carry over with its meaning (a comprehension, an else, helpers whose
// definitions differ in value, a value that may be missing in a negation) is
// evaluated by OPA instead: once for rows that it cannot tell apart, and 2,000
// times a call at most, the cheapest first; the rest is excluded. Stats.Notes
// names the line. Engine.OPAOnly has OPA evaluate every rule. The two ways
// agree, but for one thing: an error in a body that has a condition which data
// alone makes false is not noticed by a program. docs/internals/rego-evaluator.md
// says how that is proven.
//
// OPA's rule index and early exit are off: the index of 1.22 finds no rule for
// x in {"constant", variable}, so that a refusal would be lost, and early exit
// makes errors depend on the order of rules.
//
// The policy's tests run in the same way, with the clock at the Unix epoch
// unless they replace time.now_ns.
//
// Not here: where policies come from (policy/load), and how several of them
// are combined (package policy).
package rego
