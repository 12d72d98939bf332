package isolate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"spokeshave.dev/controller/core/policy"
)

// host keeps the process that answers questions, with all policies in it.
//
// Size: one method for each step by which a process is started, filled, asked and replaced.
type host struct {
	cfg *Config
	// turn is held by whoever talks to the process: one question at a time.
	turn chan struct{}
	// building is held while the next process is prepared, with one of trials.
	building, trials chan struct{}
	running          *running // the job that may have one of trials

	// Guarded by turn.
	proc   *process // nil when none runs
	before bool     // there was a process before

	mu       sync.Mutex
	policies map[uint64]*compiled // what a new process gets
	coming   map[uint64]*compiled // what is about to be among them
	loaded   map[uint64]bool      // what the process has
	changed  chan struct{}        // closed when another process takes its place
	last     uint64
	reviving bool
	lacks    sync.Once
}

func newHost(cfg *Config, trials chan struct{}, job *running) *host {
	return &host{
		cfg: cfg, turn: make(chan struct{}, 1), building: make(chan struct{}, 1), trials: trials, running: job,
		policies: map[uint64]*compiled{}, coming: map[uint64]*compiled{}, changed: make(chan struct{}),
	}
}

// add loads a new policy. If it cannot be, the others stay as they are.
func (h *host) add(ctx context.Context, p *compiled) error {
	release, err := h.reserve(p)
	if err != nil {
		return err
	}
	defer release()
	if !p.slow {
		err := h.do(ctx, func() error {
			for id := range h.leaving(p) {
				h.drop(id)
			}
			if err := h.seed(ctx, p); err != nil {
				return err
			}
			h.keep(p)
			return nil
		})
		if !ranOut(err) {
			return err
		}
		h.cramp(p) // once more, in a process without the garbage of others
	}
	h.keep(p)
	if err := h.replace(ctx, p); err != nil {
		h.forget(ctx, p)
		return err
	}
	return nil
}

func (h *host) keep(p *compiled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.policies[p.id] = p
}

// forget removes a policy; the last one takes the process with it.
func (h *host) forget(ctx context.Context, p *compiled) {
	h.mu.Lock()
	delete(h.policies, p.id)
	h.mu.Unlock()
	h.do(context.WithoutCancel(ctx), func() error { h.drop(p.id); return nil }) //nolint:errcheck // there is none
}

// do runs f with the turn. When f has ended the process, the next one is started on the
// side. When there is no policy any more, the process ends.
func (h *host) do(ctx context.Context, f func() error) error {
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // the caller's own
	}
	defer func() { <-h.turn }()
	err := f()
	switch {
	case h.proc == nil:
	case h.proc.over():
		h.gone()
		h.revive(context.WithoutCancel(ctx))
	case !h.any():
		h.gone()
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
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded = nil
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
	if h.cfg.Events.Started != nil {
		h.cfg.Events.Started(h.before)
	}
	h.inForce(proc, map[uint64]bool{})
	return nil
}

// inForce makes a process the one that answers. The caller has the turn.
func (h *host) inForce(proc *process, has map[uint64]bool) {
	h.proc = proc
	h.mu.Lock()
	h.loaded = has
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	h.before = true
	h.unconfined(proc.report.String())
}

// unconfined reports once what the kernel lacks, "" for nothing.
func (h *host) unconfined(missing string) {
	if missing != "" && h.cfg.Events.Unconfined != nil {
		h.lacks.Do(func() { h.cfg.Events.Unconfined(missing) })
	}
}

// seed loads a policy that has passed its trial, unless it is loaded. The caller has the
// turn.
func (h *host) seed(ctx context.Context, p *compiled) error {
	if err := h.ready(ctx); err != nil {
		return err
	}
	if h.isLoaded(p) {
		return nil
	}
	if _, err := h.proc.load(ctx, p.id, p.source, seedLimit); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded[p.id] = true
	return nil
}

func (h *host) isLoaded(p *compiled) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loaded[p.id]
}

// drop tells the process, if one runs, to forget a policy. The caller has the turn.
func (h *host) drop(id uint64) {
	if h.proc == nil {
		return
	}
	h.mu.Lock()
	delete(h.loaded, id)
	h.mu.Unlock()
	f := frame{kind: kindDrop, policy: id}
	f.send(h.proc.in) //nolint:errcheck // a process that has ended is noticed by the next question
}

func (h *host) has(p *compiled) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.policies[p.id] == p
}

// isReplaced reports whether a policy has left the process for a newer version of it, which is
// there. It does not come back beside that: there may be no room for both.
func (h *host) isReplaced(p *compiled) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.loaded[p.id] {
		return false
	}
	for id, q := range h.policies {
		if id > p.id && h.loaded[id] && q.info.Namespace == p.info.Namespace && q.info.Name == p.info.Name {
			return true
		}
	}
	return false
}

// any reports whether there are policies.
func (h *host) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.policies) > 0
}

// ask puts a question to a policy: size bytes that put writes. read reads the reply.
func (h *host) ask(ctx context.Context, p *compiled, size int, put func([]byte), read func([]byte) error) error {
	if h == nil {
		return &policy.Fault{Kind: policy.FaultInternal, Message: "the policy was judged only"}
	}
	if h.isReplaced(p) {
		return errReplaced
	}
	if err := h.await(ctx, p); err != nil {
		return err
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
			h.drop(p.id)
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
