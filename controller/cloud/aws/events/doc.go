// Package events learns which instances are in trouble: from the SQS queue that
// EventBridge fills (spot interruptions, rebalance recommendations, state changes, health
// events), and by asking EC2 for failed status checks, scheduled events and capacity
// blocks about to end.
//
// Not here: what becomes of the nodes (reconcile/interruption, reconcile/repair).
package events
