// Package rehearse implements `spokeshave backtest`: it reads a trace and several
// policy sets, and runs the trace once with each set.
package rehearse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/backtest"
	"spokeshave.dev/controller/rehearse/replay"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/simulate"
	"spokeshave.dev/controller/rehearse/source"
)

// Config is a backtest's input.
type Config struct {
	Trace     string
	Manifests []string
	// Sets are files and folders with policies; each is one set. None is the set
	// without policies.
	Sets []string
	// Catalog and Region are as in simulate.Config.
	Catalog, Region string
	// Start is the start of a trace that only has times relative to its beginning.
	Start time.Time
	// For is how long the trace runs; 0 means until all its pods have ended.
	For time.Duration
	// PreferencePolicy and MinValuesPolicy are the controller's settings; empty
	// for its defaults.
	PreferencePolicy, MinValuesPolicy string
	// MoveCost is the controller\'s setting, in USD/hour; nil for its default.
	MoveCost *float64
	Run      backtest.Config
}

// None names the set without policies.
const None = "none"

// Compare runs the trace with every set.
func Compare(ctx context.Context, cfg *Config) (*backtest.Report, []scenario.Warning, error) {
	w, warnings, err := workload(cfg)
	if err != nil {
		return nil, nil, err
	}
	sets := cfg.Sets
	if len(sets) == 0 {
		sets = []string{None}
	}
	report := &backtest.Report{Start: w.Start, End: w.End, Seed: cfg.Run.Seed, Sets: make([]*backtest.Result, len(sets))}
	errs := make([]error, len(sets))
	var all sync.WaitGroup
	for i, path := range sets {
		all.Go(func() {
			run := cfg.Run
			run.Workload = w
			report.Sets[i], errs[i] = one(ctx, path, run)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, nil, err
	}
	return report, warnings, nil
}

// workload reads the trace: a decision log, or a file with arrivals of pods.
func workload(cfg *Config) (*backtest.Workload, []scenario.Warning, error) {
	raw, err := scenario.ReadFile(cfg.Trace)
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`{"version":`)) {
		if len(cfg.Manifests)+len(cfg.Catalog)+len(cfg.Region) > 0 || cfg.For > 0 {
			return nil, nil, fmt.Errorf("%s is a decision log, which has its own NodePools, prices and length: leave out -f, --catalog, --region and --for", cfg.Trace)
		}
		records, err := replay.Read(cfg.Trace)
		if err != nil {
			return nil, nil, err
		}
		w, err := backtest.Recorded(records)
		return w, nil, err
	}
	if len(cfg.Manifests) == 0 {
		return nil, nil, errors.New("no manifests: name a file or folder with NodePools with -f")
	}
	settings, err := lower.Settings(cfg.PreferencePolicy, cfg.MinValuesPolicy, cfg.MoveCost)
	if err != nil {
		return nil, nil, err
	}
	cluster, err := scenario.Read(cfg.Manifests...)
	if err != nil {
		return nil, nil, err
	}
	opts := scenario.Options{Time: cfg.Start, Settings: settings, Region: cfg.Region}
	if cfg.Catalog != "" {
		raw, err := scenario.ReadFile(cfg.Catalog)
		if err != nil {
			return nil, nil, err
		}
		c, err := catalog.Read(cfg.Catalog, raw)
		if err != nil {
			return nil, nil, err
		}
		opts.Catalog = &c
	}
	w, err := backtest.Load(&backtest.Source{Trace: cfg.Trace, Cluster: cluster, Options: opts, For: cfg.For})
	return w, cluster.Warnings, err
}

// one runs the trace with one set.
func one(ctx context.Context, path string, run backtest.Config) (_ *backtest.Result, err error) {
	var found []source.Policy
	if path != None {
		if found, _, err = source.Read(ctx, path); err != nil {
			return nil, err
		}
	}
	policies, done, err := simulate.Compile(ctx, found, run.Workload.Start)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return nil, err
	}
	run.Policies = policies
	r, err := backtest.Run(ctx, run)
	if err != nil {
		return nil, fmt.Errorf("policies %s: %w: %w", path, simulate.ErrDefect, err)
	}
	r.Name = path
	if path != None {
		r.Name = filepath.Base(filepath.Clean(path))
	}
	return r, nil
}
