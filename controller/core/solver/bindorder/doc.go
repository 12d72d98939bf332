// Package bindorder answers whether the Kubernetes scheduler, which binds one pod
// after the other, can bind every pod of a plan where the plan puts it.
//
// Only required pod affinity makes that a question: a pod with affinity is bound
// once a pod that its terms match runs in the same domain, or, when there is none
// anywhere and it matches its own terms, as the first of them. Pods that wait for
// each other by different terms are never bound.
//
// The package simulates the order: it binds everything without affinity, then
// whoever finds a match, until nobody does; then it lets one first pod start a
// group, and goes on. The outcome does not depend on which of them comes first,
// except for pods that could start several groups; those are tried in the order of
// the plan.
//
// Anti-affinity, spreads and resources are taken for granted: the plan has been made
// to respect them in any order.
package bindorder
