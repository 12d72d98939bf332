package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// Start reads the cluster's configuration and runs the controller with a JSON log on
// standard error.
func Start(ctx context.Context, o *Options, kubeconfig string) error {
	log, err := newLog(o.LogLevel)
	if err != nil {
		return err
	}
	klog.SetLogger(log)
	o.logFindings(log)
	followHeap(os.LookupEnv)
	if !o.EnableProfiling {
		runtime.MemProfileRate = 0 // the profile is not served
	}
	cfg, err := restConfig(kubeconfig)
	if err != nil {
		return err
	}
	if o.Identity == "" {
		if o.Identity, err = identity(); err != nil {
			return err
		}
	}
	return Run(ctx, o, cfg, log)
}

func newLog(level string) (logr.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return logr.Logger{}, fmt.Errorf("--log-level %q: use debug, info or error", level)
	}
	return logr.FromSlogHandler(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: l})), nil
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return cfg, nil
		}
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	cfg, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("find the cluster: not running inside one, and no usable kubeconfig: %w", err)
	}
	return cfg, nil
}

// identity returns the name of this replica in leases: the pod's name and the process
// id, so that a restarted container is another holder.
func identity() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name this replica: %w", err)
	}
	return fmt.Sprintf("%s_%d", host, os.Getpid()), nil
}
