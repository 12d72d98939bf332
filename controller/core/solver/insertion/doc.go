// Package insertion plans pods one by one, each where all of its constraints hold at
// that moment. It suits few pods with many constraints between them.
//
// Insert places pods on existing nodes, on new nodes under construction, or on another
// new node, in the way that a Strategy says. Offers whose nodes are equal to all
// constraints between pods form a partition, so that few places are examined for a
// pod. Unlike packing, insertion knows which pods share a node when it chooses the
// domain. Repack then packs the pods on new nodes all at once, within the domains
// that were chosen.
//
// Not here: which strategies run, and in which order (package solver).
package insertion
