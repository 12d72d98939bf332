// Package planwriter writes an attempt as a plan, in terms of the snapshot: which pods
// go to which node, what each new node may be launched as, and why pods have no place.
//
// It lists the pods without a place at once, and finds their reasons only when asked
// to, since that takes about as long as packing. The reasons come from package
// explain, to which it shows NodePools and offerings from the view of a class.
package planwriter
