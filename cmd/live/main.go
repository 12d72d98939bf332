// Command live measures what a burst of pods gets on the local control plane: pods are
// created by the real workload controllers, bound by the real scheduler, and the
// instances are simulated. It prints how long pods waited, and what the nodes cost
// beside one plan of the same pods. docs/performance.md holds the figures.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := command().ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "live:", err)
		os.Exit(1)
	}
}
