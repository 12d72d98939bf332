// Package backtest runs days of workload through provisioning and disruption on a
// virtual clock. The decisions are the controller's own. The machines are those of
// provider/sim, which boot and stop by the clock. Prices, shortages and interruptions
// of the spot market are drawn from a seed. Equal input gives exactly equal results.
//
// It has no kube-scheduler: pods are bound where they were planned, or to the emptiest
// node that takes them. It has no grace periods: an eviction takes effect at once.
package backtest
