// Package colocate decides which pods must be planned together because they want
// others on their own node.
//
// A plan without bundles shows which pods find none of those on their node: Unmet
// records them. Bundle then makes classes of groups of pods that share a node. The
// other packages treat a group as one pod. Groups that find no place are recorded as
// well, and their pods are planned apart again, with the reasons.
//
// Not here: how often plans are made again with other bundles (package solver).
package colocate
