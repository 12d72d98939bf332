package policy

import (
	"context"
	"errors"
	"time"
)

// Suspension is a policy that is not asked, because its administrator has suspended it.
type Suspension struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	Until     time.Time `json:"until"`
}

// Use records one policy's part in a decision.
type Use struct {
	Name      string        `json:"name"`
	Namespace string        `json:"namespace,omitempty"`
	Hash      string        `json:"hash"`
	Hook      Hook          `json:"hook"`
	Engine    string        `json:"engine"`
	Mode      Mode          `json:"mode"`
	Calls     int           `json:"calls"`
	Elapsed   time.Duration `json:"-"`
	// Denied counts the rows excluded, candidates not allowed and launches
	// refused.
	Denied int `json:"denied"`
	Faults int `json:"faults"`
	// Kinds counts the faults by kind.
	Kinds map[FaultKind]int `json:"-"`
	// Disagreed counts the answers of a Shadow policy that would have changed the
	// outcome of the policies before it: rows excluded or priced differently,
	// candidates kept, launches refused.
	Disagreed int `json:"disagreed,omitempty"`
	// Differences are examples of them. They are kept in memory only.
	Differences []Difference `json:"-"`
	// Fault is the last fault's text.
	Fault string `json:"fault,omitempty"`
	// Unrepeatable lists the faults that a replay would not reproduce, such as an
	// exceeded deadline or an open breaker. A replay takes them from here.
	Unrepeatable []FailedCall `json:"unrepeatable,omitempty"`
}

// Panel asks the policies for one decision and records each policy's part in it.
type Panel struct {
	policies []Policy
	// elapsed is a stopwatch; nil leaves the timings at zero, and nothing is bounded.
	elapsed func() time.Duration
	// budget is the time that policies have taken, again that of [Panel.RankAgain].
	budget, again budget
	uses          map[useKey]*Use
	order         []useKey
	// shared marks the names that policies of several namespaces have.
	shared map[string]bool
	// answers is memory that policies may use for rank answers, by tier number.
	answers [][]RankAnswer
}

type useKey struct {
	namespace, name string
	hook            Hook
}

// NewPanel returns a panel of the policies, which must be in pipeline order
// (priority, then namespace/name, as the loader sorts them). elapsed may be nil, as in
// replays: [TimePerDecision] then does not hold.
func NewPanel(policies []Policy, elapsed func() time.Duration) *Panel {
	p := &Panel{policies: policies, elapsed: elapsed, uses: map[useKey]*Use{}, shared: map[string]bool{}, budget: budget{}, again: budget{}}
	seen := map[string]bool{}
	for _, each := range policies {
		name := each.Info().Name
		p.shared[name] = seen[name]
		seen[name] = true
	}
	return p
}

// name returns how answers refer to a policy: by its name, and with its namespace
// when another policy of the panel has the same name. Together with the hook it
// identifies the Use that holds the policy's hash.
func (p *Panel) name(info *Info) string {
	if p.shared[info.Name] {
		return info.Namespace + "/" + info.Name
	}
	return info.Name
}

// Uses returns the records, in the order in which the policies were first asked.
func (p *Panel) Uses() []Use {
	out := make([]Use, 0, len(p.order))
	for _, key := range p.order {
		out = append(out, *p.uses[key])
	}
	return out
}

func (p *Panel) use(info *Info, hook Hook) *Use {
	key := useKey{info.Namespace, info.Name, hook}
	u := p.uses[key]
	if u == nil {
		u = &Use{
			Name: info.Name, Namespace: info.Namespace, Hash: info.Hash,
			Hook: hook, Engine: info.Engine, Mode: info.Mode,
		}
		p.uses[key] = u
		p.order = append(p.order, key)
	}
	return u
}

// ask runs one call and records it. ok is false when there is no usable answer.
// refused is true when the failure policy turns that into a refusal.
func (p *Panel) ask(ctx context.Context, info *Info, hook Hook, call func(context.Context) error) (ok, refused bool) {
	u := p.use(info, hook)
	err := p.timed(ctx, info, u, call)
	u.Calls++
	switch {
	case err == nil:
		return true, false
	case errors.Is(err, ErrNoOpinion):
		return false, false
	default:
		u.Faults++
		u.Fault = err.Error()
		u.count(err)
		u.note(err)
		return false, info.FailureFor(hook) == Fail && info.Mode != Shadow
	}
}

// timed makes one call, unless the policy has used up its time, and adds to that.
func (p *Panel) timed(ctx context.Context, info *Info, u *Use, call func(context.Context) error) error {
	if p.elapsed == nil {
		return call(ctx)
	}
	if err := p.budget.over(info); err != nil {
		return err
	}
	start := p.elapsed()
	err := call(ctx)
	took := p.elapsed() - start
	u.Elapsed += took
	p.budget.spend(info, took)
	return err
}

// count counts a fault by its kind.
func (u *Use) count(err error) {
	kind := FaultInternal
	if f := (*Fault)(nil); errors.As(err, &f) {
		kind = f.Kind
	}
	if u.Kinds == nil {
		u.Kinds = map[FaultKind]int{}
	}
	u.Kinds[kind]++
}
