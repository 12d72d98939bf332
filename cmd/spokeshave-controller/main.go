// Command spokeshave-controller is the node autoscaler itself. It runs inside
// the cluster (the chart installs it) or beside it with a kubeconfig.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"spokeshave.dev/controller/app"
)

const help = `spokeshave-controller launches nodes for pods that have no place, and removes
nodes that are not needed any more. It speaks Karpenter's v1 API, and asks the
policies in ConfigMaps labelled spokeshave.dev/policy=true which instance is
best, which node may go and how much may be spent.

Every flag can also be set by an environment variable of the same name in upper
case with underscores (CLUSTER_NAME for --cluster-name).

  spokeshave-controller --cluster-name=prod --mode=Observe --kubeconfig=$HOME/.kube/config

Flags:
`

func main() {
	app.Child()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "spokeshave-controller:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var o app.Options
	var kubeconfig string
	var version bool
	fs := pflag.NewFlagSet("spokeshave-controller", pflag.ContinueOnError)
	fs.SortFlags = false
	fs.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig file; inside a cluster its own account is used")
	fs.BoolVar(&version, "version", false, "print the version and exit")
	o.Bind(fs)
	fs.Usage = func() { fmt.Fprint(os.Stderr, help+fs.FlagUsages()) }
	switch err := o.Parse(fs, args, os.Environ()); {
	case errors.Is(err, pflag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	if version {
		fmt.Println(app.Version)
		return nil
	}
	if err := o.Validate(); err != nil {
		return err
	}
	return app.Start(ctx, &o, kubeconfig)
}
