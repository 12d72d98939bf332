// Package supply lowers what can be launched, for a solve: labels, zones and
// resource names become small integers, sets of offers become bit sets.
//
// A Table has the Templates (NodePools, or variants of one that differ in labels),
// the Offers (an instance type of a template in a zone at a capacity type) and the
// Shapes (what an instance type leaves for pods, DaemonSets deducted). It answers
// which offers meet a requirement, a selector or minValues. A Cache keeps tables
// for the solves of one decision.
//
// Not here: pods (only the resources and label values that they mention matter),
// existing nodes, and how much may be launched: limits, headroom and reservations
// are accounts of a plan in the making.
package supply
