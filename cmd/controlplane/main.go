// Command controlplane builds, starts and stops the local Kubernetes control
// plane for people and for make. Tests call the package directly.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"spokeshave.dev/test/kit/controlplane"
)

const usage = `controlplane runs a real Kubernetes control plane on this machine: etcd,
kube-apiserver, kube-controller-manager, kube-scheduler, and KWOK in place of
kubelets. Everything is built from Go modules; nothing else is needed.

Usage:
  controlplane build             build the programs, once per version (some minutes)
  controlplane up   [-dir D]     start a cluster that stays up until "down"
  controlplane down [-dir D]     stop it; its logs stay in D/logs
  controlplane env  [-dir D]     print shell settings to use it

Try:
  go run ./cmd/controlplane up
  eval "$(go run ./cmd/controlplane env)"
  kubectl get namespaces

Nodes do not appear by themselves. KWOK plays every Node that has the label
` + controlplane.NodeLabel + `=` + controlplane.NodeLabelValue + ` and says what it can hold in status.allocatable;
pods bound to such a node run at once. A cluster is not resumed: "up" after
"down" starts an empty one.

D is %s by default.
Programs are cached in the user's cache directory, or in $` + controlplane.CacheEnv + `.
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	dir, err := defaultDir()
	if err != nil {
		return err
	}
	help := fmt.Sprintf(usage, dir)
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, help)
		return errors.New("name a command")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&dir, "dir", dir, "state directory")
	commands := map[string]func(context.Context, string) error{"build": build, "up": up, "down": down, "env": env}
	command, known := commands[args[0]]
	if known {
		err = flags.Parse(args[1:])
	}
	switch {
	case errors.Is(err, flag.ErrHelp), args[0] == "help", args[0] == "-h", args[0] == "-help", args[0] == "--help":
		fmt.Print(help)
		return nil
	case !known:
		return fmt.Errorf("unknown command %q; try --help", args[0])
	case err != nil:
		return fmt.Errorf("%w; try --help", err)
	case flags.NArg() > 0:
		return fmt.Errorf("%s takes no argument %q; try --help", args[0], flags.Arg(0))
	}
	return command(ctx, dir)
}

func defaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a state directory: %w", err)
	}
	return filepath.Join(cache, "spokeshave", "cluster"), nil
}

func build(ctx context.Context, _ string) error {
	bins, err := controlplane.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Println(bins.Dir)
	return nil
}

func up(ctx context.Context, dir string) error {
	c, err := controlplane.Attach(dir)
	if err == nil {
		fmt.Fprintf(os.Stderr, "a cluster is up already at %s\n", c.ServerURL)
	} else {
		if _, err := controlplane.Build(ctx, os.Stderr); err != nil {
			return err
		}
		// Stop what is still running of a cluster of which a process has exited.
		if err := controlplane.Down(ctx, dir); err != nil && !errors.Is(err, controlplane.ErrNotRunning) {
			return err
		}
		c, err = controlplane.Start(ctx, controlplane.Options{Dir: dir, Full: true, Detached: true, Log: os.Stderr})
		if err != nil {
			return err
		}
	}
	settings(c)
	return nil
}

// settings prints what lets kubectl and helm work on the cluster.
func settings(c *controlplane.Cluster) {
	fmt.Printf("export KUBECONFIG=%s\nexport PATH=%s:\"$PATH\"\n", quote(c.Kubeconfig), quote(c.Binaries.Dir))
}

func down(ctx context.Context, dir string) error {
	err := controlplane.Down(ctx, dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		fmt.Fprintf(os.Stderr, "no cluster in %s\n", dir)
		return nil
	}
	return err
}

func env(_ context.Context, dir string) error {
	c, err := controlplane.Attach(dir)
	if errors.Is(err, controlplane.ErrNotRunning) {
		return fmt.Errorf("%w; start one with \"up\"", err)
	}
	if err != nil {
		return err
	}
	settings(c)
	return nil
}

// quote makes a path safe for a POSIX shell.
func quote(path string) string {
	var out strings.Builder
	out.WriteString("'")
	for _, r := range path {
		if r == '\'' {
			out.WriteString(`'\''`)
			continue
		}
		out.WriteString(string(r))
	}
	return out.String() + "'"
}
