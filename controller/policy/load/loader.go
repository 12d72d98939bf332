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
	// Namespace is the controller's namespace. Its policies may answer every hook.
	// Policies in other namespaces may only rank and consolidate, as far as Scopes, by
	// namespace, permits.
	Namespace string
	Scopes    map[string]policy.Scope
	// Required names policies (name, or namespace/name) that must be active before
	// anything is launched.
	Required []string
	// Engines compile policies, by engine name.
	Engines map[string]policy.Engine
	// Now returns the time at which a state changed.
	Now func() time.Time
}

// Loader holds the policies in force. It is safe for concurrent use.
type Loader struct {
	cfg     Config
	current atomic.Pointer[inForce]

	mu      sync.Mutex
	entries map[Key]*entry
}

// inForce holds the policies that are asked, with the files of each.
type inForce struct {
	policies []policy.Policy
	contents []policy.Contents
}

// Key identifies a policy by its ConfigMap.
type Key struct{ Namespace, Name string }

// entry is one ConfigMap's policy: the version in force and the state of its last
// revision.
type entry struct {
	// compiling serializes compilations of one policy without locking the loader.
	compiling sync.Mutex
	inForce   policy.Compiled
	// refusal is asked instead of inForce while inForce is nil.
	refusal policy.Policy
	// files are the files of inForce, or of refusal while inForce is nil.
	files    map[string][]byte
	lastHash string // hash of the last revision tried
	// revision is the hash of the revision being loaded, whether or not it could be
	// parsed.
	revision string
	status   policy.Status
	// trippedAt is when the breaker was first seen open, zero while it is closed.
	trippedAt time.Time
	// suspended is until when the policy is not asked; zero when it is not suspended.
	suspended time.Time
}

// New returns a loader without policies.
func New(cfg Config) *Loader {
	l := &Loader{cfg: cfg, entries: map[Key]*entry{}}
	l.current.Store(&inForce{policies: []policy.Policy{}})
	return l
}

// Policies returns the policies in force in pipeline order: ascending priority, then
// namespace and name. The slice must not be changed.
func (l *Loader) Policies() []policy.Policy { return l.current.Load().policies }

// Contents returns the files of each of Policies. For a policy that never had a good
// version they are those of its last revision. They must not be changed.
func (l *Loader) Contents() []policy.Contents { return l.current.Load().contents }

// Apply loads a ConfigMap's policy. It may take seconds; calls for different
// policies run in parallel. changed is true when the policies in force have changed.
// The error says why the revision was rejected; the last good version then stays in
// force.
func (l *Loader) Apply(ctx context.Context, cm *corev1.ConfigMap) (changed bool, err error) {
	key := Key{cm.Namespace, cm.Name}
	e := l.entry(key)
	e.compiling.Lock()
	defer e.compiling.Unlock()
	l.look(e, cm)
	src, err := ParseConfigMap(cm)
	if err == nil && src.Info.Hash == e.lastHash {
		l.reaffirm(e)
		return false, nil // the same contents as the last revision tried
	}
	var compiled policy.Compiled
	if err == nil {
		e.lastHash = src.Info.Hash
		compiled, err = l.compile(ctx, src)
	}
	if err != nil {
		if Transient(err) { // the next attempt may succeed
			e.lastHash = ""
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

// look records the hash of the revision being loaded. accept and reject copy it to the
// status, so that revision and state always belong together.
func (l *Loader) look(e *entry, cm *corev1.ConfigMap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.revision = Hash(cm)
}

// Transient reports whether a revision was rejected because a deadline passed, because this
// machine could start no process for it, or because other policies hold the memory. Another
// attempt may succeed.
func Transient(err error) bool {
	var f *policy.Fault
	return errors.As(err, &f) && f.Kind == policy.FaultDeadline || errors.Is(err, context.DeadlineExceeded)
}

// reaffirm clears the status when the contents return to the version in force after
// a revision that could not be parsed.
func (l *Loader) reaffirm(e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.status.Revision = e.revision
	if e.inForce == nil {
		return
	}
	if info := e.inForce.Info(); info.Hash == e.lastHash {
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
	if err := l.cfg.confine(&src.Info); err != nil {
		return nil, err
	}
	engine := l.cfg.Engines[src.Info.Engine]
	if engine == nil {
		return nil, fmt.Errorf("no engine %q", src.Info.Engine)
	}
	return engine.Compile(ctx, src)
}

// Delete removes a policy and closes it.
func (l *Loader) Delete(ctx context.Context, key Key) (changed bool, err error) {
	l.mu.Lock()
	e := l.entries[key]
	delete(l.entries, key)
	l.publish()
	l.mu.Unlock()
	if e == nil {
		return false, nil
	}
	e.compiling.Lock()
	defer e.compiling.Unlock()
	if e.inForce == nil {
		return e.refusal != nil, nil
	}
	if err := e.inForce.Close(ctx); err != nil {
		return true, fmt.Errorf("end policy %s/%s: %w", key.Namespace, key.Name, err)
	}
	return true, nil
}

func (l *Loader) entry(key Key) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	if e == nil {
		e = &entry{status: policy.Status{Namespace: key.Namespace, Name: key.Name, Scope: l.cfg.scopeText(key.Namespace)}}
		l.entries[key] = e
	}
	return e
}

func (l *Loader) accept(e *entry, cm *corev1.ConfigMap, compiled policy.Compiled) (old policy.Compiled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old, e.inForce = e.inForce, compiled
	e.files = filesOf(cm)
	e.trippedAt = time.Time{}
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
	if e.inForce != nil {
		info := e.inForce.Info()
		reason += fmt.Sprintf(" (the last good version, %.12s, stays in force)", info.Hash)
	} else {
		e.refusal, e.files = nil, filesOf(cm)
		if len(outline.Hooks) > 0 {
			e.refusal = refusal{outline, reason}
		}
		l.publish()
	}
	e.status.Set(policy.StateRejected, reason, l.cfg.Now())
	e.status.Revision = e.revision
}

// publish replaces the policies in force. The caller must hold mu.
func (l *Loader) publish() {
	next := make([]*entry, 0, len(l.entries))
	for _, e := range l.entries {
		if e.asked() != nil && e.suspended.IsZero() {
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
		info := e.asked().Info()
		now.contents = append(now.contents, policy.Contents{Namespace: e.status.Namespace, Name: e.status.Name, Files: e.files, Scope: info.Match.Scope})
	}
	l.current.Store(now)
}

// asked returns the policy that is asked for the entry, nil for none.
func (e *entry) asked() policy.Policy {
	if e.inForce != nil {
		return e.inForce
	}
	return e.refusal
}

// Judged reports whether a revision of the policy was loaded or rejected since New.
func (l *Loader) Judged(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.entries[key]
	return e != nil && e.status.State != ""
}

// InForce returns the content hash of the version of a policy that is in force, ""
// for none.
func (l *Loader) InForce(key Key) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[key]; e != nil && e.inForce != nil {
		info := e.inForce.Info()
		return info.Hash
	}
	return ""
}

// Good returns the files, by name, of the version of a policy that is in force, and
// their hash; "" and nil for none. The files must not be changed.
func (l *Loader) Good(key Key) (hash string, files map[string][]byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[key]; e != nil && e.inForce != nil {
		info := e.inForce.Info()
		return info.Hash, e.files
	}
	return "", nil
}

// Missing names the required policies that are not in force: absent, without a good
// version, or in Shadow mode. A suspended policy is not missing.
func (l *Loader) Missing() []string {
	suspended := l.Suspended()
	var out []string
	for _, want := range l.cfg.Required {
		meant := func(namespace, name string) bool {
			return want == namespace+"/"+name || want == name && namespace == l.cfg.Namespace
		}
		if !slices.ContainsFunc(l.Policies(), func(p policy.Policy) bool {
			info := p.Info()
			_, refused := p.(refusal)
			return !refused && info.Mode != policy.Shadow && meant(info.Namespace, info.Name)
		}) && !slices.ContainsFunc(suspended, func(k policy.Suspension) bool { return meant(k.Namespace, k.Name) }) {
			out = append(out, want)
		}
	}
	return out
}
