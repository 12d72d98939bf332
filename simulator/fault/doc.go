// Package fault is what is ordered to go wrong: errors, cut connections and
// latency by action, and capacity pools that refuse. A Schedule holds the orders
// and says which of them strikes a call.
package fault
