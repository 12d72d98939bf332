// Package simulate implements `spokeshave simulate`: from manifests and policies it
// computes the decision that the controller would make. It runs the controller's own
// decide.Decide with the controller's own policy engines, without a cluster.
//
// It is a separate package so that the command line does not link the controller's
// clients.
package simulate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/controller/rehearse/source"
)

// Config is a simulation's input.
type Config struct {
	// Manifests are files and folders of Kubernetes objects.
	Manifests []string
	// Policies are further files and folders, of which only the policies are used.
	Policies []string
	// Compiled are further policies. The caller has to close them.
	Compiled []policy.Policy
	// Catalog is a catalogue file as `spokeshave catalog export` writes it. When empty,
	// the embedded catalogue of Region is used.
	Catalog string
	// Region may be empty: it is then the one to which the manifests' zones belong.
	Region string
	Time   time.Time
	Seed   uint64
	// Asked and Reseed are for a snapshot from a file: the flags that the user set
	// although it has its own values, and whether Seed replaces its own seed.
	Asked  []string
	Reseed bool
	// PreferencePolicy and MinValuesPolicy are the controller's settings; empty
	// for its defaults.
	PreferencePolicy, MinValuesPolicy string
	// MoveCost is the controller\'s setting, in USD/hour; nil for its default.
	MoveCost *float64
	// Disrupt says to decide disruption too: which running nodes would be removed.
	Disrupt bool
	// Consolidate decides disruption too, and reports every running node, with the reason
	// why it stays.
	Consolidate bool
	// Elapsed returns the time since a fixed start, for the timings. When nil, they are
	// zero.
	Elapsed func() time.Duration
}

// Result is a simulation's outcome.
type Result struct {
	Report   *scenario.Report
	Warnings []scenario.Warning
}

// Run makes the decision. An error is one of the input, or wraps ErrDefect.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Elapsed == nil {
		cfg.Elapsed = func() time.Duration { return 0 }
	}
	settings, err := lower.Settings(cfg.PreferencePolicy, cfg.MinValuesPolicy, cfg.MoveCost)
	if err != nil {
		return nil, err
	}
	start := cfg.Elapsed()
	objects, err := scenario.Read(cfg.Manifests...)
	if err != nil {
		return nil, err
	}
	sources := source.Objects(objects)
	for _, path := range cfg.Policies {
		more, warnings, err := source.Read(ctx, path)
		if err != nil {
			return nil, err
		}
		sources = append(sources, more...)
		objects.Warnings = append(objects.Warnings, warnings...)
	}
	opts := scenario.Options{Time: cfg.Time, Seed: cfg.Seed, Asked: cfg.Asked, Reseed: cfg.Reseed, Region: cfg.Region, Settings: settings}
	if cfg.Catalog != "" {
		c, err := readCatalog(cfg.Catalog)
		if err != nil {
			return nil, err
		}
		opts.Catalog = &c
	}
	read := cfg.Elapsed() - start
	snapshot, err := objects.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	lowered := cfg.Elapsed() - start - read
	policies, done, err := Compile(ctx, sources, snapshot.Time)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	policies = inOrder(append(policies, cfg.Compiled...))
	claims, err := planClaims(ctx, objects, &snapshot, policies)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrDefect, err), done())
	}
	decision, err := decide.Decide(ctx, &snapshot, policies, decide.Options{
		Elapsed: cfg.Elapsed, Bound: true, Disrupt: cfg.Disrupt || cfg.Consolidate, Search: cfg.Disrupt || cfg.Consolidate, Explain: cfg.Consolidate,
	})
	if err = errors.Join(err, done()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDefect, err)
	}
	report := scenario.NewReport(objects, &snapshot, &decision, read, lowered)
	for i := range claims {
		report.Claim(claims[i].claim, &claims[i].snapshot, &claims[i].decision)
	}
	if cfg.Consolidate {
		report.Consolidate(&snapshot, &decision)
	}
	return &Result{Report: report, Warnings: objects.Warnings}, nil
}

func readCatalog(path string) (model.Catalog, error) {
	raw, err := scenario.ReadFile(path)
	if err != nil {
		return model.Catalog{}, err
	}
	return catalog.Read(path, raw)
}
