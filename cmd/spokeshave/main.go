// Command spokeshave is the command-line tool for users and scripts. It simulates
// decisions, tests and pushes policies, explains what the controller has decided, and
// shows the embedded EC2 catalogue. Installed as kubectl-spokeshave it is also a
// kubectl plugin.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
