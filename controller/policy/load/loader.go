package load

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/policy"
)

// Config says which policies may be loaded, and how.
type Config struct {
	// Namespace is the controller's own: its policies are guardrails and may
	// answer every hook. Policies elsewhere may only rank and consolidate.
	Namespace string
	// Required names policies (name, or namespace/name) that must be active
	// for anything to be launched.
	Required []string
	// Engines compile policies, by engine name.
	Engines map[string]policy.Engine
	// Now dates the states.
	Now func() time.Time
}

// Loader holds the policies in force. It is safe for concurrent use.
type Loader struct {
	cfg     Config
	current atomic.Pointer[inForce]

	mu      sync.Mutex
	entries map[Key]*entry
}

// inForce are the policies that are asked, and what each was made of.
type inForce struct {
	policies []policy.Policy
	contents []policy.Contents
}

// Key names a policy.
type Key struct{ Namespace, Name string }

// entry is one ConfigMap's policy: the good version, and what became of the
// last revision.
type entry struct {
	// turn serializes compilations of one policy without holding the loader.
	turn sync.Mutex
	good policy.Compiled
	// stand is asked in place of good while there is none.
	stand policy.Policy
	// files are what good, or else stand, was made of.
	files map[string][]byte
	seen  string // hash of the last revision tried
	// revision is the hash of the one before the loader now, parsed or not.
	revision string
	status   policy.Status
	// tripped is when the breaker was first seen open, zero while it is closed.
	tripped time.Time
}

// New makes an empty loader.
func New(cfg Config) *Loader {
	l := &Loader{cfg: cfg, entries: map[Key]*entry{}}
	l.current.Store(&inForce{policies: []policy.Policy{}})
	return l
}

// Policies are the policies in force in pipeline order: ascending priority,
// then namespace and name. The slice must not be changed.
func (l *Loader) Policies() []policy.Policy { return l.current.Load().policies }

// Contents are what each of Policies was made of. Of a policy that never had a
// good version they are the broken ones. They must not be changed.
func (l *Loader) Contents() []policy.Contents { return l.current.Load().contents }

// Apply loads a ConfigMap's policy. It may take seconds: calls for different
// policies run side by side. changed says that the policies in force are not
// what they were; the error says why the revision was rejected, in which case
// the last good version stays in force.
func (l *Loader) Apply(ctx context.Context, cm *corev1.ConfigMap) (changed bool, err error) {
	key := Key{cm.Namespace, cm.Name}
	e := l.entry(key)
	e.turn.Lock()
	defer e.turn.Unlock()
	l.look(e, cm)
	src, err := ParseConfigMap(cm)
	if err == nil && src.Info.Hash == e.seen {
		l.reaffirm(e)
		return false, nil // the same contents, judged before
	}
	var compiled policy.Compiled
	if err == nil {
		e.seen = src.Info.Hash
		compiled, err = l.compile(ctx, src)
	}
	if err != nil {
		if Transient(err) { // the next attempt may fare better
			e.seen = ""
		}
		l.reject(e, cm, err)
		return false, fmt.Errorf("load policy %s/%s: %w", cm.Namespace, cm.Name, err)
	}
	old := l.accept(e, cm, compiled)
	if old != nil {
		return true, old.Close(ctx)
	}
	return true, nil
}

// look notes which revision is being judged, once it has been: the status says
// so together with what became of it.
func (l *Loader) look(e *entry, cm *corev1.ConfigMap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.revision = Hash(cm)
}

// Transient says that a revision was rejected because a wall clock ran out: the
// machine may have been busy, and it is worth trying again.
func Transient(err error) bool {
	var f *policy.Fault
	return errors.As(err, &f) && f.Kind == policy.FaultDeadline || errors.Is(err, context.DeadlineExceeded)
}

// reaffirm clears the status when an author goes back to the version in force
// from a revision that could not even be read.
func (l *Loader) reaffirm(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.status.Revision = e.revision
	if e.good == nil {
		return
	}
	if info := e.good.Info(); info.Hash == e.seen {
		e.status.Set(stateOf(&info), "", l.cfg.Now())
	}
}

func stateOf(info *policy.Info) policy.State {
	if info.Mode == policy.Shadow {
		return policy.StateShadow
	}
	return policy.StateActive
}

func (l *Loader) compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	if src.Info.Namespace != l.cfg.Namespace && slices.Contains(src.Info.Hooks, policy.HookCeiling) {
		return nil, fmt.Errorf("hook ceiling is for policies in namespace %s: whoever ranks instances must not lift a budget", l.cfg.Namespace)
	}
	engine := l.cfg.Engines[src.Info.Engine]
	if engine == nil {
		return nil, fmt.Errorf("no engine %q", src.Info.Engine)
	}
	return engine.Compile(ctx, src)
}

// Delete forgets a policy and ends it.
func (l *Loader) Delete(ctx context.Context, key Key) (changed bool, err error) {
	l.mu.Lock()
	e := l.entries[key]
	delete(l.entries, key)
	l.publish()
	l.mu.Unlock()
	if e == nil {
		return false, nil
	}
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.good == nil {
		return e.stand != nil, nil
	}
	if err := e.good.Close(ctx); err != nil {
		return true, fmt.Errorf("end policy %s/%s: %w", key.Namespace, key.Name, err)
	}
	return true, nil
}

func (l *Loader) entry(key Key) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	if e == nil {
		e = &entry{status: policy.Status{Namespace: key.Namespace, Name: key.Name}}
		l.entries[key] = e
	}
	return e
}

func (l *Loader) accept(e *entry, cm *corev1.ConfigMap, compiled policy.Compiled) (old policy.Compiled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, e.good = e.good, compiled
	e.files = filesOf(cm)
	e.tripped = time.Time{}
	info := compiled.Info()
	e.status.Set(stateOf(&info), "", l.cfg.Now())
	e.status.Revision = e.revision
	e.status.Hash, e.status.Engine, e.status.Hooks = info.Hash, info.Engine, info.Hooks
	l.publish()
	return old
}

func (l *Loader) reject(e *entry, cm *corev1.ConfigMap, why error) {
	outline := l.outline(cm)
	l.mu.Lock()
	defer l.mu.Unlock()
	reason := why.Error()
	if e.good != nil {
		info := e.good.Info()
		reason += fmt.Sprintf(" (the last good version, %.12s, stays in force)", info.Hash)
	} else if len(outline.Hooks) > 0 {
		e.stand, e.files = refusal{outline, reason}, filesOf(cm)
		l.publish()
	}
	e.status.Set(policy.StateRejected, reason, l.cfg.Now())
	e.status.Revision = e.revision
}

// publish swaps the policies in force. The caller holds mu.
func (l *Loader) publish() {
	next := make([]*entry, 0, len(l.entries))
	for _, e := range l.entries {
		if e.asked() != nil {
			next = append(next, e)
		}
	}
	slices.SortFunc(next, func(a, b *entry) int {
		x, y := a.asked().Info(), b.asked().Info()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), strings.Compare(x.Namespace, y.Namespace), strings.Compare(x.Name, y.Name))
	})
	now := &inForce{policies: make([]policy.Policy, 0, len(next))}
	for _, e := range next {
		now.policies = append(now.policies, e.asked())
		now.contents = append(now.contents, policy.Contents{Namespace: e.status.Namespace, Name: e.status.Name, Files: e.files})
	}
	l.current.Store(now)
}

// asked is what stands for the policy, nil when nothing does.
func (e *entry) asked() policy.Policy {
	if e.good != nil {
		return e.good
	}
	return e.stand
}

// Judged says whether a policy was loaded or rejected since the loader began.
func (l *Loader) Judged(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	return e != nil && e.status.State != ""
}

// InForce is the content hash of the version of a policy that is in force, ""
// for none.
func (l *Loader) InForce(key Key) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[key]; e != nil && e.good != nil {
		info := e.good.Info()
		return info.Hash
	}
	return ""
}

// Missing names the required policies that are not in force: absent, never
// good, or only in shadow.
func (l *Loader) Missing() []string {
	var out []string
	for _, want := range l.cfg.Required {
		if !slices.ContainsFunc(l.Policies(), func(p policy.Policy) bool {
			info := p.Info()
			_, refused := p.(refusal)
			return !refused && info.Mode != policy.Shadow &&
				(want == info.Namespace+"/"+info.Name || want == info.Name && info.Namespace == l.cfg.Namespace)
		}) {
			out = append(out, want)
		}
	}
	return out
}
