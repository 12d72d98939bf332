// Package backtest runs days of workload through the whole loop, provisioning and
// disruption, on a virtual clock: the controller's own decisions, machines of
// provider/sim that boot and stop by that clock, and a spot market whose prices,
// shortages and interruptions come from a seed. Equal input gives an equal
// result, to the byte.
//
// Not here: a kube-scheduler (pods go where they were planned, or to the emptiest
// node that takes them), and grace periods: who may be evicted is so at once.
package backtest
