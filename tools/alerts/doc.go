// Package alerts evaluates the alerts and recording rules of the chart
// (charts/spokeshave/files/rules.yaml) with Prometheus itself: each alert in a case in which it
// has to fire, and in one in which it must not. It is a module of its own because of what
// Prometheus depends on.
package alerts
