// Package domains assigns pods to zones and other topology domains before they are
// packed.
//
// A Space has the domains of every label that topology constraints use, except the
// hostname. Counts are the numbers of pods by topology group and domain. Assign
// returns the problem's classes, split so that each goes to one domain, and an
// Assignment: by class, the domains that it may use. When pods that were assigned
// find no place, Assignment.Remove takes them out of the counts, and
// Assignment.Excess says which others must then go too.
//
// Package insertion uses Space and Counts but not Assign: it chooses the domain of
// every pod when it places it.
//
// Not here: topology constraints over the hostname (package constraint), and which
// orders of domains are tried (package solver).
package domains
