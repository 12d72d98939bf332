package isolate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/confine"
)

// The limits on a trial: the wall time of each of its stages and of all of them, and its processor time
// in all. A stage is the parsing of the files, their compilation, one test and so on. A process that
// gets a twentieth of a processor can use all its processor time within trialLimit.
const (
	stageLimit = 5 * time.Second
	trialLimit = 10 * time.Minute
	trialCPU   = 30 * time.Second
)

// seedLimit is the wall time in which a policy that has passed its trial must load into
// the process that answers.
const seedLimit = 2 * time.Second

// quick is the processor time that loading a policy may take between two questions. What
// takes longer is loaded into a process that then takes the place of the one before.
const quick = 100 * time.Millisecond

// deadline is the wall time limit of a question, and politeShare the share of it after
// which the engine stops by itself, so that its process need not be ended.
const (
	deadline    = 500 * time.Millisecond
	politeShare = 0.9
)

// DefaultMemory is the memory limit of a process, in bytes.
const DefaultMemory = 192 << 20

// Config says how policies are isolated.
type Config struct {
	// Engine is the engine's name, in messages and in policy.Info.
	Engine string
	// Memory limits the writable memory of each process, in bytes; 0 is DefaultMemory.
	// At most Trials+1 of them run at the same time.
	Memory uint64
	// Trials is how many policies are compiled at the same time; 0 is 1.
	Trials int
	// JudgeOnly makes Compile say whether a policy is good, and nothing else: what it
	// returns cannot be asked.
	JudgeOnly bool
	// Option is handed to Build in the process.
	Option string
	// Events are called when something happens; each may be nil.
	Events Events

	// stage, trial, cpu and crowd take the place of stageLimit, trialLimit, trialCPU and crowd in tests; 0 does not.
	stage, trial, cpu time.Duration
	crowd             float64
}

// Events report what happens to the processes.
type Events struct {
	// Started is called when a process that answers has started, for the first time or
	// again.
	Started func(again bool)
	// Refused is called when a policy has ended the process of its trial.
	Refused func(info *policy.Info, kind policy.FaultKind)
	// Killed is called when a policy has ended the process that answers.
	Killed func(info *policy.Info, kind policy.FaultKind)
	// Unconfined is called, once, with what the kernel lacks.
	Unconfined func(missing string)
}

// Engine compiles and runs policies in processes of their own.
type Engine struct {
	cfg      Config
	trials   chan struct{}
	jobs     chan struct{} // held by the job that runs or waits with the trials
	host     *host
	running  *running
	verdicts verdicts
}

var _ policy.Engine = (*Engine)(nil)

// New returns an engine. The program must call Child first in main.
func New(cfg Config) *Engine {
	if cfg.Memory == 0 {
		cfg.Memory = DefaultMemory
	}
	cfg.stage, cfg.trial = cmp.Or(cfg.stage, stageLimit), cmp.Or(cfg.trial, trialLimit)
	cfg.cpu, cfg.crowd = cmp.Or(cfg.cpu, trialCPU), cmp.Or(cfg.crowd, crowd)
	e := &Engine{cfg: cfg, trials: make(chan struct{}, max(cfg.Trials, 1)), jobs: make(chan struct{}, 1), running: &running{}}
	if !cfg.JudgeOnly {
		e.host = newHost(&e.cfg, e.trials, e.running)
	}
	return e
}

// setup returns what a process is started with. cpu 0 is no limit.
func (c *Config) setup(cpu time.Duration) *setup {
	return &setup{Limits: confine.Limits{Memory: c.Memory, CPU: cpu}, Option: c.Option}
}

// Compile implements policy.Engine: it compiles the policy and runs its tests in a
// process of its own, and then loads it into the process that answers questions. A policy that has
// passed its trial and does not fit beside the others gets no other trial with the same contents: its
// verdict is remembered and used, also when it fits. What fails in another way begins with a trial again.
func (e *Engine) Compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	trial := sourceOf(src, true)
	contents, err := digestOf(trial)
	if err != nil {
		return nil, err
	}
	verdict := e.verdicts.take(contents)
	if verdict == nil {
		if verdict, err = e.try(ctx, src, trial); err != nil {
			return nil, err
		}
	}
	p := newPolicy(e.host, src)
	p.info.Engine, p.info.Guards, p.source.Notes = e.cfg.Engine, verdict.Guards, verdict.Notes
	p.slow, p.holds = verdict.Took > quick, verdict.Holds
	if err := e.admit(ctx, src, p); err != nil {
		if u := (*unfit)(nil); errors.As(err, &u) && u.fault.Kind == policy.FaultDeadline { // it may fit later
			e.verdicts.keep(contents, verdict)
		}
		return nil, err
	}
	return p, nil
}

// admit loads a policy that has passed its trial into the process that answers, if it fits.
func (e *Engine) admit(ctx context.Context, src *policy.Source, p *compiled) error {
	if e.host == nil {
		return admit(&e.cfg, p, nil)
	}
	if err := e.host.add(ctx, p); err != nil {
		return crowded(e.refused(&src.Info, err, e.trial(seedLimit)), e.cfg.Memory)
	}
	return nil
}

// try compiles a policy in a process that ends afterwards.
func (e *Engine) try(ctx context.Context, src *policy.Source, trial *load) (*loaded, error) {
	leave, err := e.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	proc, err := start(ctx, e.cfg.setup(e.cfg.cpu))
	if err != nil {
		return nil, e.refused(&src.Info, err, e.trial(e.cfg.stage))
	}
	defer proc.end(causeCaller)
	proc.stages = e.cfg.trial
	verdict, err := proc.load(ctx, 0, trial, e.cfg.stage)
	if err != nil {
		return nil, e.refused(&src.Info, err, e.trial(e.cfg.stage))
	}
	return verdict, nil
}

// enter waits for one of the trials.
func (e *Engine) enter(ctx context.Context) (leave func(), err error) {
	select {
	case e.trials <- struct{}{}:
		return func() { <-e.trials }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to compile: %w", ctx.Err())
	}
}

func sourceOf(src *policy.Source, trial bool) *load {
	limits := src.Limits
	limits.Deadline = time.Duration(politeShare * float64(deadlineOf(src)))
	return &load{Name: src.Info.Name, Hooks: slices.Clone(src.Info.Hooks), Files: src.Files, Config: src.Config, Limits: limits, Trial: trial}
}

func deadlineOf(src *policy.Source) time.Duration {
	if ask := src.Limits.Deadline; ask > 0 {
		return min(deadline, ask)
	}
	return deadline
}

// load loads a policy into the process. An error other than a death is the policy's
// mistake.
func (p *process) load(ctx context.Context, id uint64, l *load, limit time.Duration) (*loaded, error) {
	b, size, err := encode(l)
	if err != nil {
		return nil, err
	}
	f, err := p.exchange(ctx, &frame{kind: kindLoad, policy: id}, size, b, limit, kindLoaded)
	if err != nil {
		return nil, err
	}
	var out loaded
	if err := decode(f.bytes, &out); err != nil {
		return nil, err
	}
	switch {
	case out.Error == "":
		return &out, nil
	case out.Late:
		return nil, &refusal{text: out.Error, fault: policy.Fault{Kind: policy.FaultDeadline}}
	}
	return nil, errors.New(strings.ToValidUTF8(out.Error, "?"))
}
