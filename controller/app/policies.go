package app

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/reconcile/policies"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/load"
)

func newLoader(o *Options, c clock.PassiveClock, log logr.Logger, isolated *isolate.Config) *load.Loader {
	guests := &guestLog{log: log.WithName("guest"), clock: c, minutes: map[string]*minute{}}
	return load.New(load.Config{
		Namespace: o.Namespace, Scopes: o.PluginScopes, Required: o.RequiredPolicies, Now: c.Now,
		Engines: o.engines(engine.Config{Log: guests.write, Cache: o.PolicyCache, Isolate: isolated}),
	})
}

// engines returns the policy engines that the options select.
func (o *Options) engines(cfg engine.Config) map[string]policy.Engine {
	cfg.WasmMemory = uint64(o.WasmMemory.Bytes)
	cfg.RegoByOPA = o.RegoEvaluator == RegoOPA
	return engine.With(cfg)
}

// Child serves Rego policies and does not return if the program was started as the
// process in which they run. Programs call it before they do anything else.
func Child() { engine.Child() }

// isolation says how Rego policies are isolated. The processes of all engines report to
// one place.
func (o *Options) isolation(to *policies.Process) *isolate.Config {
	return &isolate.Config{
		Memory: uint64(o.RegoMemory.Bytes),
		Events: isolate.Events{Started: to.Started, Refused: to.Refused, Killed: to.Killed, Unconfined: to.Unconfined},
	}
}

// guestLines is how many log lines of one policy are written per minute. The limit per
// call does not suffice, because there may be many calls.
const guestLines = 60

// guestLog writes the log lines of policies to the controller's log.
type guestLog struct {
	log   logr.Logger
	clock clock.PassiveClock

	mu      sync.Mutex
	minutes map[string]*minute // by namespace/name
}

// minute counts a policy's log lines since start.
type minute struct {
	start          time.Time
	lines, dropped int
}

func (g *guestLog) write(info *policy.Info, line string) {
	key := info.Namespace + "/" + info.Name
	now := g.clock.Now()
	g.mu.Lock()
	m := g.minutes[key]
	if m == nil {
		m = &minute{start: now}
		g.minutes[key] = m
	}
	dropped := 0
	if now.Sub(m.start) >= time.Minute {
		dropped = m.dropped
		*m = minute{start: now}
	}
	m.lines++
	keep := m.lines <= guestLines
	if !keep {
		m.dropped++
	}
	g.mu.Unlock()
	log := g.log.WithValues("policy", key)
	if dropped > 0 {
		log.Info("the policy logs too much", "dropped", dropped)
	}
	if keep {
		log.Info(line)
	}
}
