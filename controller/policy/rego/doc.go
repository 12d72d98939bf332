// Package rego is the Rego engine for user policies. It compiles *.rego files with a
// restricted set of built-in functions, runs the tests in them, and answers the rank,
// consolidate and ceiling questions of package policy. It is the only package that
// imports OPA.
//
// A policy answers in one package per hook. Its files may also contain helper rules,
// functions and other packages.
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
// input.offering and input.pool (rank), input.candidate (consolidate), input.launch,
// input.spend and input.time (ceiling) have the fields of docs/spec/policy.md, section
// 4, and so has offeringFields with the functions after it. input.launch is absent when
// caps are asked for. time.now_ns() is the moment of input.time.
//
// Another field is refused when the policy is loaded.
//
// # How rules are run
//
// When a policy is loaded, each rule is partially evaluated with all of the input
// unknown. The result becomes a program over typed fields: 1,000 offerings take a
// third of a millisecond. Partial evaluation would change the meaning of some rules:
// those with a comprehension, an else, helpers whose definitions differ in value, or
// a value in a negation that may be missing. OPA evaluates these rules instead, once
// for all rows that the rule cannot distinguish, and at most 2,000 times per call,
// starting with the cheapest rows; the remaining rows are excluded. Stats.Notes names
// the line of such a rule. Engine.OPAOnly makes OPA evaluate every rule.
//
// Programs and OPA give the same answers with one exception: a program does not
// report an error in a body that also has a condition which data alone makes false.
// docs/internals/rego-evaluator.md says how this is tested.
//
// OPA's rule index and early exit are disabled. The index of OPA 1.22 finds no rule
// for x in {"constant", variable}, so that a refusal would be lost. Early exit makes
// errors depend on the order of rules.
//
// The policy's tests run in the same way, with the Unix epoch as the clock unless
// they replace time.now_ns.
//
// The controller runs this engine in a process of its own (package isolate), the command
// line in its own.
//
// Policies are loaded by package policy/load and combined by package policy.
package rego
