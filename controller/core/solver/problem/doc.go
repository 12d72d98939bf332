// Package problem translates a snapshot into the solver's representation, so that
// planning works on small integers, bit sets and vectors.
//
// A Problem has what can be launched (package supply), the topology groups (package
// constraint), and the pods to place. Pods that the scheduler treats alike form a
// Class with a count. Hosts are the nodes that exist, with their free capacity.
// Items are classes with equal requests and equal sets of offers: they are what is
// packed. The time of a solve therefore depends mainly on the number of different
// shapes and little on the number of pods.
//
// Not here: which class goes where. Packages colocate, domains and commit decide
// that; they replace Problem.Classes by classes of fewer pods, place pods on hosts
// and set Class.Reasons.
package problem
