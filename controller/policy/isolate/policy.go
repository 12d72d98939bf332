package isolate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wire"
)

// compiled is a policy whose code is in the process of the host.
type compiled struct {
	host     *host // nil for a policy that was judged only
	id       uint64
	info     policy.Info
	source   *load
	deadline time.Duration
	// slow is true when loading the policy would keep the questions to others waiting.
	slow bool
	// holds is how many bytes it takes of the process while it is not asked.
	holds uint64
	// cramped is true once there was too little memory to load it beside its earlier versions. Guarded by
	// host.mu.
	cramped bool
	// awaited is true while it is being loaded again for a question. Guarded by host.mu.
	awaited bool
	breaker policy.Breaker
	strikes strikes

	// mu guards the encoder between the layout of a question and its reply.
	mu      sync.Mutex
	encoder wire.Encoder
}

func newPolicy(h *host, src *policy.Source) *compiled {
	return &compiled{host: h, info: src.Info, source: sourceOf(src, false), deadline: deadlineOf(src)}
}

// Info implements policy.Policy.
func (p *compiled) Info() policy.Info { return p.info }

// Stats implements policy.Compiled.
func (p *compiled) Stats() policy.Stats {
	s := p.breaker.Stats()
	s.Notes = p.source.Notes
	s.Kills = p.strikes.total()
	s.Tripped = s.Tripped || p.strikes.open()
	return s
}

// Close implements policy.Compiled.
func (p *compiled) Close(ctx context.Context) error {
	if p.host != nil {
		p.host.forget(ctx, p)
	}
	return nil
}

// Rank implements policy.Policy.
func (p *compiled) Rank(ctx context.Context, in *policy.RankInput) (answers []policy.RankAnswer, err error) {
	err = p.ask(ctx, policy.HookRank, in.Time, func() (int, error) { return p.encoder.Rank(in) }, func(b []byte) error {
		answers, err = wire.RankReplied(b, len(in.Rows), in.Reuse)
		return err
	})
	return answers, err
}

// Consolidate implements policy.Policy.
func (p *compiled) Consolidate(ctx context.Context, in *policy.ConsolidateInput) (answers []policy.ConsolidateAnswer, err error) {
	err = p.ask(ctx, policy.HookConsolidate, in.Time, func() (int, error) { return p.encoder.Consolidate(in) }, func(b []byte) error {
		answers, err = wire.ConsolidateReplied(b, len(in.Candidates))
		return err
	})
	return answers, err
}

// Ceiling implements policy.Policy.
func (p *compiled) Ceiling(ctx context.Context, in *policy.CeilingInput) (answer policy.CeilingAnswer, err error) {
	err = p.ask(ctx, policy.HookCeiling, in.Time, func() (int, error) { return p.encoder.Ceiling(in) }, func(b []byte) error {
		answer, err = wire.CeilingReplied(b, len(in.Launches))
		return err
	})
	return answer, err
}

// ask puts one question, unless the policy is off at the decision's time.
func (p *compiled) ask(ctx context.Context, hook policy.Hook, now time.Time, lay func() (int, error), read func([]byte) error) error {
	if !p.info.Answers(hook) {
		return policy.ErrNoOpinion
	}
	if err := p.strikes.enter(now); err != nil {
		return err
	}
	return p.breaker.Ask(now, func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		size, err := lay()
		if err != nil {
			return fmt.Errorf("ask %s: %w", p.info.Name, err)
		}
		return p.fault(ctx, now, p.host.ask(ctx, p, size, p.encoder.Put, read))
	})
}

// fault turns the errors of a call into faults, and counts a process that the policy has
// ended. An error that the caller has caused stays as it is.
func (p *compiled) fault(ctx context.Context, now time.Time, err error) error {
	var d *death
	var f *policy.Fault
	switch {
	case err == nil || errors.Is(err, policy.ErrNoOpinion):
		p.strikes.leave(now)
		return err
	case ctx.Err() != nil:
		return ctx.Err() //nolint:wrapcheck // the caller's own
	case errors.As(err, &d):
		return p.struck(now, d)
	case errors.As(err, &f):
		p.strikes.leave(now)
		if f.Kind == policy.FaultDeadline && f != errLoading && f != errReplaced {
			return &policy.Fault{Kind: f.Kind, Message: fmt.Sprintf("stopped after %s", p.deadline)}
		}
		return err
	}
	return &policy.Fault{Kind: policy.FaultInternal, Message: err.Error()}
}

// struck counts a process that the policy has ended.
func (p *compiled) struck(now time.Time, d *death) *policy.Fault {
	p.strikes.count(now)
	if killed := p.host.cfg.Events.Killed; killed != nil {
		killed(&p.info, d.kind)
	}
	f := &policy.Fault{Kind: d.kind, Message: "the process of policies ended: " + d.detail}
	switch d.kind { //nolint:exhaustive // the others are rare
	case policy.FaultDeadline:
		f.Message = fmt.Sprintf("stopped after %s, with its process", p.deadline)
	case policy.FaultMemory:
		f.Message = fmt.Sprintf("stopped with its process, which may have %d MiB (%s)", p.host.cfg.Memory>>20, d.detail)
	}
	return f
}
