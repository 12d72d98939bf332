// Command awscheck asks a real AWS account, or the simulator, the twenty questions on
// which this project relies, and compares the answers with what it expects. The first
// fifteen only read; the others launch two instances for a few minutes and end them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command().ExecuteContext(ctx)
	switch {
	case errors.Is(err, errFailed):
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "awscheck:", err)
		os.Exit(2)
	}
}
