package isolate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// replaceLimit is the wall time in which each policy must load into a process that is
// prepared on the side.
const replaceLimit = 10 * time.Second

// errLoading is the fault of a policy that has not been loaded again yet.
var errLoading = &policy.Fault{
	Kind: policy.FaultDeadline, NotAsked: true,
	Message: "the policy is being loaded again, after another one has ended the process",
}

// errReplaced is the fault of a version that has left the process for a newer one.
var errReplaced = &policy.Fault{
	Kind: policy.FaultDeadline, NotAsked: true, Message: "a newer version of the policy has taken its place",
}

// all returns the policies that a new process gets.
func (h *host) all() []*compiled {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]*compiled, 0, len(h.policies))
	for _, p := range h.policies {
		out = append(out, p)
	}
	return out
}

// revive starts a process after one has ended, and loads the policies, one at a time, so
// that questions come in between: they load what they are about themselves. What is slow
// to load comes last, with a process of its own.
func (h *host) revive(ctx context.Context) {
	all := h.all()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.reviving || len(all) == 0 {
		return
	}
	h.reviving = true
	go func() {
		slow, leaves := false, h.leaving(nil)
		for _, p := range all {
			if leaves[p.id] {
				continue
			}
			if p.slow || p.strikes.any() { // the latter is loaded when it is asked again
				slow = slow || p.slow
				continue
			}
			h.blame(p, h.do(ctx, func() error {
				if !h.has(p) {
					return nil
				}
				return h.seed(ctx, p)
			}))
		}
		h.mu.Lock()
		h.reviving = false
		h.mu.Unlock()
		if slow {
			h.replace(ctx, nil) //nolint:errcheck // who waits for a policy tries again
		}
	}()
}

// blame counts a policy that has ended a process while it was loaded.
func (h *host) blame(p *compiled, err error) {
	if d := (*death)(nil); errors.As(err, &d) {
		_ = p.struck(time.Time{}, d) // nobody waits for the answer
	}
}

// await waits until a policy that is slow to load has been loaded, no longer than its
// deadline.
func (h *host) await(ctx context.Context, p *compiled) error {
	if !p.slow || h.isLoaded(p) || !h.has(p) {
		return nil
	}
	h.fetch(context.WithoutCancel(ctx), p)
	bounded, cancel := context.WithTimeout(ctx, p.deadline)
	defer cancel()
	for {
		h.mu.Lock()
		loaded, changed := h.loaded[p.id], h.changed
		h.mu.Unlock()
		if loaded {
			return nil
		}
		select {
		case <-changed:
		case <-bounded.Done():
			if ctx.Err() != nil {
				return ctx.Err() //nolint:wrapcheck // the caller's own
			}
			return errLoading
		}
	}
}

// fetch has a policy loaded again on the side, once however many questions wait for it.
func (h *host) fetch(ctx context.Context, p *compiled) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.awaited {
		return
	}
	p.awaited = true
	go func() {
		h.replace(ctx, p) //nolint:errcheck // a question waits until it is loaded
		h.mu.Lock()
		defer h.mu.Unlock()
		p.awaited = false
	}()
}

// replace prepares a process with all policies, and with extra if it is not nil, while
// the present one answers, and then puts it in its place.
func (h *host) replace(ctx context.Context, extra *compiled) error {
	stop := sync.OnceFunc(h.hurry(extra))
	defer stop()
	for _, slot := range []chan struct{}{h.building, h.trials} {
		select {
		case slot <- struct{}{}:
			defer func() { <-slot }()
		case <-ctx.Done():
			return fmt.Errorf("wait to load: %w", ctx.Err())
		}
	}
	stop()
	if extra != nil && !h.has(extra) || h.complete(extra) { // closed meanwhile, or loaded by another call
		return nil
	}
	proc, has, err := h.prepare(ctx, extra)
	if err != nil {
		return err
	}
	err = h.do(ctx, func() error {
		if h.proc != nil {
			h.gone()
		}
		h.inForce(proc, has)
		for id := range has {
			if !h.known(id) { // closed meanwhile
				h.drop(id)
			}
		}
		return nil
	})
	if err != nil {
		proc.end(causeCaller)
	}
	return err
}

// prepare returns a process with all policies, and extra if it is not nil, and the numbers of
// those that it has. When the memory is too little, the earlier versions of extra are left out.
func (h *host) prepare(ctx context.Context, extra *compiled) (*process, map[uint64]bool, error) {
	proc, has, err := h.fill(ctx, extra)
	if ranOut(err) && h.cramp(extra) {
		proc, has, err = h.fill(ctx, extra)
	}
	if u := (*unfilled)(nil); errors.As(err, &u) && u.policy != extra {
		h.blame(u.policy, err)
		err = &refusal{text: "another policy cannot be loaded: " + err.Error(), fault: policy.Fault{Kind: policy.FaultDeadline}}
	}
	return proc, has, err
}

// unfilled is the error of fill when a policy could not be loaded.
type unfilled struct {
	policy *compiled
	cause  error
}

// Error implements error.
func (u *unfilled) Error() string { return u.cause.Error() }

// Unwrap returns the cause.
func (u *unfilled) Unwrap() error { return u.cause }

// fill starts a process and loads all policies, and extra if it is not nil.
func (h *host) fill(ctx context.Context, extra *compiled) (*process, map[uint64]bool, error) {
	proc, err := start(ctx, h.cfg.setup(0))
	if err != nil {
		return nil, nil, err
	}
	has := map[uint64]bool{}
	leaves := h.leaving(extra)
	for _, p := range append(h.all(), extra) {
		if p == nil || has[p.id] || p != extra && (p.strikes.any() || leaves[p.id] || !h.has(p)) {
			continue
		}
		if _, err := proc.load(ctx, p.id, p.source, replaceLimit); err != nil {
			proc.end(causeCaller)
			return nil, nil, &unfilled{policy: p, cause: err}
		}
		has[p.id] = true
	}
	return proc, has, nil
}

// complete reports whether the process has extra and all policies that it should have.
func (h *host) complete(extra *compiled) bool {
	if extra != nil && !h.isLoaded(extra) {
		return false
	}
	leaves := h.leaving(extra)
	for _, p := range h.all() {
		if !p.strikes.any() && !leaves[p.id] && !h.isLoaded(p) {
			return false
		}
	}
	return true
}

// known reports whether a policy should be in the process.
func (h *host) known(id uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.policies[id] != nil
}
