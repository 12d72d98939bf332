// Package existing places pods on the nodes that exist. These cost nothing more, so
// they are filled before new nodes are planned.
//
// Not here: what the hosts have room for (package problem), and which domains a class
// may use (package domains).
package existing
