package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// host keeps the process that answers questions, with all policies in it.
type host struct {
	cfg *Config
	// turn is held by whoever talks to the process: one question at a time.
	turn chan struct{}

	// Guarded by turn.
	proc   *process // nil when none runs
	loaded map[uint64]bool
	before bool // there was a process before

	mu       sync.Mutex
	policies map[uint64]*compiled // what a new process gets
	last     uint64
	reviving bool
	lacks    sync.Once
}

func newHost(cfg *Config) *host {
	return &host{cfg: cfg, turn: make(chan struct{}, 1), policies: map[uint64]*compiled{}}
}

// add loads a new policy. If it cannot be, the others stay as they are.
func (h *host) add(ctx context.Context, p *compiled) error {
	h.mu.Lock()
	h.last++
	p.id = h.last
	h.mu.Unlock()
	return h.do(ctx, func() error {
		if err := h.seed(ctx, p); err != nil {
			return err
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.policies[p.id] = p
		return nil
	})
}

// forget removes a policy; the last one takes the process with it.
func (h *host) forget(p *compiled) {
	h.mu.Lock()
	delete(h.policies, p.id)
	h.mu.Unlock()
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	h.unload(p)
}

// do runs f with the turn. When f has ended the process, the next one is started on the
// side.
func (h *host) do(ctx context.Context, f func() error) error {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller's own
	}
	defer func() { <-h.turn }()
	err := f()
	if h.proc != nil && h.proc.over() {
		h.gone()
		h.revive(context.WithoutCancel(ctx))
	}
	return err
}

func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// gone removes the process. The caller has the turn.
func (h *host) gone() {
	h.proc.end(causeCaller)
	h.proc = nil
}

// ready starts a process if none runs. The caller has the turn.
func (h *host) ready(ctx context.Context) error {
	if h.proc != nil && !h.proc.over() {
		return nil
	}
	proc, err := start(ctx, h.cfg.setup(0))
	if err != nil {
		return err
	}
	h.proc, h.loaded = proc, map[uint64]bool{}
	if h.cfg.Events.Started != nil {
		h.cfg.Events.Started(h.before)
	}
	h.before = true
	if missing := proc.report.String(); missing != "" && h.cfg.Events.Unconfined != nil {
		h.lacks.Do(func() { h.cfg.Events.Unconfined(missing) })
	}
	return nil
}

// seed loads a policy that has passed its trial, unless it is loaded. The caller has the
// turn.
func (h *host) seed(ctx context.Context, p *compiled) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	if h.loaded[p.id] {
		return nil
	}
	if _, err := h.proc.load(ctx, p.id, p.source, seedLimit); err != nil {
		return err
	}
	h.loaded[p.id] = true
	return nil
}

// unload frees what the policy takes in the process, which ends if it was the last. The
// caller has the turn.
func (h *host) unload(p *compiled) {
	h.mu.Lock()
	none := len(h.policies) == 0
	h.mu.Unlock()
	if h.proc == nil {
		return
	}
	if none {
		h.gone()
		return
	}
	delete(h.loaded, p.id)
	f := frame{kind: kindDrop, policy: p.id}
	if f.send(h.proc.in) != nil {
		h.gone()
	}
}

// revive starts a process after one has ended, and loads all policies, one at a time,
// so that questions come in between: they load what they are about themselves.
func (h *host) revive(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reviving || len(h.policies) == 0 {
		return
	}
	h.reviving = true
	all := make([]*compiled, 0, len(h.policies))
	for _, p := range h.policies {
		all = append(all, p)
	}
	go func() {
		for _, p := range all {
			if p.strikes.any() { // it is loaded when it is asked again
				continue
			}
			err := h.do(ctx, func() error {
				if !h.has(p) {
					return nil
				}
				return h.seed(ctx, p)
			})
			if d := (*death)(nil); errors.As(err, &d) {
				_ = p.struck(time.Time{}, d) // nobody waits for the answer
			}
		}
		h.mu.Lock()
		h.reviving = false
		h.mu.Unlock()
	}()
}

func (h *host) has(p *compiled) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.policies[p.id] == p
}

// ask puts a question to a policy: size bytes that put writes. read reads the reply.
func (h *host) ask(ctx context.Context, p *compiled, size int, put func([]byte), read func([]byte) error) error {
	if h == nil {
		return &policy.Fault{Kind: policy.FaultInternal, Message: "the policy was judged only"}
	}
	return h.do(ctx, func() error {
		if err := h.seed(ctx, p); err != nil {
			return err
		}
		f, err := h.proc.exchange(ctx, &frame{kind: kindAsk, policy: p.id}, size, put, p.deadline, kindReply)
		if err != nil {
			return err
		}
		err = read(f.bytes)
		if !h.has(p) { // a decision that began before the policy was closed
			h.unload(p)
		}
		return err
	})
}

// encode returns a writer of a value's JSON, and its size.
func encode(v any) (put func([]byte), size int, err error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, 0, fmt.Errorf("encode a policy: %w", err)
	}
	return func(to []byte) { copy(to, b) }, len(b), nil
}

func decode(b []byte, v any) error {
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read from the process of policies: %w", err)
	}
	return nil
}
