// Package commit packs the pods that existing nodes leave and turns the patterns into
// new nodes, as far as limits, headroom, reservations and tiers allow.
//
// An Attempt is a plan under construction. It runs rounds: each makes items of the
// pods that are left, packs them (package packing), and assigns pods to the nodes of
// the patterns. Bounds are what may still be launched; a node that they do not allow
// is packed again in the next round. Best makes attempts in several modes, each more
// restrictive than the one before, until one places every pod. Where the first does, and
// bounds refused nodes of it, it makes others in which the use of bounds has a price, and
// keeps the cheapest. EvictUnsatisfied removes the pods of an attempt that depend on pods
// without a place.
//
// Package insertion adds nodes to an attempt one by one, with New and Add.
//
// Not here: which domains pods go to (package domains), and existing nodes.
package commit
