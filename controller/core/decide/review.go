package decide

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/solver"
)

// reviewRounds is how many times a plan with refused launches is solved again.
const reviewRounds = 3

// reviewStep asks the ceiling policies about each launch of the plan.
type reviewStep struct{ *decider }

// review asks the ceiling policies about the plan's launches and drops the options
// that they refuse. When a node loses all its options, the plan is solved again
// without them. After the last round such a node is dropped and its pods report the
// policy that refused.
func (d *reviewStep) review(ctx context.Context, in *solver.Input) {
	if !d.reviewed(&d.out.Plan) {
		return
	}
	for round := 0; ; round++ {
		denied, failed := d.ask(ctx, &d.out.Plan)
		if failed != nil {
			d.dropAll(failed)
			return
		}
		in.Denied = append(in.Denied, denied...)
		bare := d.dropDenied(&d.out.Plan, denied)
		if len(bare) == 0 {
			return
		}
		if round == reviewRounds {
			d.drop(bare, denied)
			return
		}
		if round > 0 { // the next best options were refused too: ask about all of them at once
			others, failed := d.ask(ctx, d.others(bare))
			if failed != nil {
				d.dropAll(failed)
				return
			}
			in.Denied = append(in.Denied, others...)
		}
		d.out.Plan, d.out.Stats = d.opts.solve(*in)
	}
}

// others returns a plan with one node per offering that the pools of the listed
// nodes could launch, each with the node's pods. It lets one question cover
// everything: a policy that refuses most offerings ("no spot above half the price")
// would otherwise use up the rounds before an allowed offering is tried.
func (d *reviewStep) others(nodes []int) *model.Plan {
	out, seen := &model.Plan{}, map[string]bool{}
	for _, i := range nodes {
		n := &d.out.Plan.Nodes[i]
		p := &d.s.Pools[n.Pool]
		key := p.Name + "/" + strings.Join(d.namespaces(n), ",")
		if seen[key] {
			continue
		}
		seen[key] = true
		types := d.s.Catalogs[p.Catalog].Types
		for t := range types {
			for o := range types[t].Offerings {
				of := &types[t].Offerings[o]
				if !of.Available || !admits(p, &types[t], nil) || !admits(p, &types[t], of) {
					continue
				}
				out.Nodes = append(out.Nodes, model.PlannedNode{Pool: n.Pool, Pods: n.Pods, Options: []model.Option{{
					InstanceType: types[t].Name, Zone: of.Zone, CapacityType: of.CapacityType, Price: of.Price, Effective: of.Price.USD(),
				}}})
			}
		}
	}
	return out
}

func (d *reviewStep) reviewed(plan *model.Plan) bool { return len(plan.Nodes) > 0 && d.capped() }

// launchKey identifies launches that are one question to the policies.
type launchKey struct {
	pool       int32
	option     model.Option
	namespaces string
}

// launches is a list of different launches to ask the ceiling policies about. keys and
// spaces, the namespaces of the pods, are indexed like asked.
type launches struct {
	asked  []policy.Launch
	keys   []launchKey
	spaces [][]string
	at     map[launchKey]int
}

// add adds a launch for pods of some namespaces and returns its index, that of the
// equal launch if there is one.
func (l *launches) add(key launchKey, spaces []string, launch func() policy.Launch) int {
	key.namespaces = strings.Join(spaces, ",")
	at, known := l.at[key]
	if !known {
		at = len(l.keys)
		l.at[key] = at
		l.keys, l.spaces, l.asked = append(l.keys, key), append(l.spaces, spaces), append(l.asked, launch())
	}
	return at
}

// ask asks the ceiling policies about every option of every planned node, each
// distinct launch once. It returns the refused options, each for one namespace, or the
// policy that gave no answer.
func (d *reviewStep) ask(ctx context.Context, plan *model.Plan) ([]model.Denied, *policy.Exclusion) {
	list := launches{at: map[launchKey]int{}}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		spaces := d.namespaces(n)
		worst := n.Worst()
		for _, option := range n.Options {
			at := list.add(launchKey{pool: n.Pool, option: option}, spaces, func() policy.Launch { return d.launchOf(n.Pool, option, spaces) })
			l := &list.asked[at]
			l.Pods = max(l.Pods, len(n.Pods))
			l.WorstPrice = max(l.WorstPrice, worst.USD())
		}
	}
	refused, failed := d.put(ctx, &list)
	if failed != nil {
		return nil, failed
	}
	return d.byNamespace(ctx, &list, refused)
}

// put asks the ceiling policies about the launches. It returns the refusals by index,
// or the policy that gave no answer.
func (d *reviewStep) put(ctx context.Context, list *launches) (map[int]policy.Exclusion, *policy.Exclusion) {
	question := policy.CeilingInput{Call: d.call(0), Scopes: (&ceilingStep{d.decider}).scopeSpend(d.accounts()), Launches: list.asked}
	out := d.panel.Ceiling(ctx, &question, d.opts.LastCaps)
	return out.Denied, out.Refused
}

// byNamespace returns the refused launches as denials for single namespaces. A refused
// launch for pods of several namespaces is asked about again for each of them alone:
// the refusal holds for those that are refused alone, and if none is, for all.
func (d *reviewStep) byNamespace(ctx context.Context, list *launches, refused map[int]policy.Exclusion) ([]model.Denied, *policy.Exclusion) {
	alone, of := launches{at: map[launchKey]int{}}, map[int][]int{} // by refused launch, those of its namespaces alone
	order := slices.Sorted(maps.Keys(refused))
	for _, i := range order {
		if len(list.spaces[i]) < 2 {
			continue
		}
		for _, space := range list.spaces[i] {
			one := list.asked[i]
			one.Namespaces = []string{space}
			of[i] = append(of[i], alone.add(list.keys[i], one.Namespaces, func() policy.Launch { return one }))
		}
	}
	var apart map[int]policy.Exclusion
	if len(alone.asked) > 0 {
		var failed *policy.Exclusion
		if apart, failed = d.put(ctx, &alone); failed != nil {
			return nil, failed
		}
	}
	var denied []model.Denied
	for _, i := range order {
		found := len(denied)
		for _, k := range of[i] {
			if why, no := apart[k]; no {
				denied = append(denied, alone.keys[k].denied(alone.spaces[k][0], why))
			}
		}
		if len(denied) > found {
			continue
		}
		for _, space := range list.spaces[i] {
			denied = append(denied, list.keys[i].denied(space, refused[i]))
		}
	}
	return denied, nil
}

// denied returns the refusal of the launch to pods of a namespace.
func (k *launchKey) denied(namespace string, why policy.Exclusion) model.Denied {
	return model.Denied{
		Pool: k.pool, Namespace: namespace, InstanceType: k.option.InstanceType, Zone: k.option.Zone, CapacityType: k.option.CapacityType,
		Policy: why.Policy, Reason: why.Reason,
	}
}

func (d *reviewStep) namespaces(n *model.PlannedNode) []string {
	var out []string
	for _, i := range n.Pods {
		out = append(out, d.s.Pods[i].Namespace)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func (d *reviewStep) launchOf(pool int32, option model.Option, namespaces []string) policy.Launch {
	p := &d.s.Pools[pool]
	l := policy.Launch{
		NodePool: p.Name, PoolTags: p.Labels, InstanceType: option.InstanceType, Zone: option.Zone,
		CapacityType: string(option.CapacityType), Price: option.Price.USD(), Namespaces: namespaces,
	}
	types := d.s.Catalogs[p.Catalog].Types
	at := slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == option.InstanceType })
	if at >= 0 {
		t := &types[at]
		l.Family = t.Labels[labelFamily]
		l.OnDemand = onDemand(t, option.Zone).USD()
		l.VCPU = float64(t.Capacity[model.CPU]) / 1000
		l.MemoryGiB = float64(t.Capacity[model.Memory]) / (1 << 30)
		l.GPUs = int(gpus(t))
	}
	return l
}

// dropDenied removes from the plan's nodes the options that are denied to any of their
// pods. It returns the indexes of the nodes that have no option left.
func (d *reviewStep) dropDenied(plan *model.Plan, denied []model.Denied) []int {
	if len(denied) == 0 {
		return nil
	}
	var bare []int
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		spaces := d.namespaces(n)
		n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o model.Option) bool {
			return slices.ContainsFunc(denied, func(x model.Denied) bool {
				return x.Pool == n.Pool && x.InstanceType == o.InstanceType && x.Zone == o.Zone && x.CapacityType == o.CapacityType && slices.Contains(spaces, x.Namespace)
			})
		})
		if len(n.Options) == 0 {
			bare = append(bare, i)
		}
	}
	return bare
}

// drop removes the listed nodes from the plan. Their pods become unplaced, with the
// refusal as reason.
func (d *reviewStep) drop(nodes []int, denied []model.Denied) {
	for _, i := range nodes {
		n := &d.out.Plan.Nodes[i]
		reason := model.Reason{Code: model.LaunchDenied, Pool: d.s.Pools[n.Pool].Name, Message: "every offering that fits was refused"}
		spaces := d.namespaces(n)
		if at := slices.IndexFunc(denied, func(x model.Denied) bool { return x.Pool == n.Pool && slices.Contains(spaces, x.Namespace) }); at >= 0 {
			reason.Policy = denied[at].Policy
			reason.Message = "policy " + denied[at].Policy + " refused the launch: " + denied[at].Reason
		}
		d.unplace(n.Pods, reason)
	}
	d.out.Plan.Nodes = slices.DeleteFunc(d.out.Plan.Nodes, func(n model.PlannedNode) bool { return len(n.Options) == 0 })
}

func (d *reviewStep) dropAll(failed *policy.Exclusion) {
	for i := range d.out.Plan.Nodes {
		d.unplace(d.out.Plan.Nodes[i].Pods, model.Reason{
			Code: model.PolicyUnavailable, Policy: failed.Policy,
			Message: "ceiling policy " + failed.Policy + " gives no answer: " + failed.Reason,
		})
	}
	d.out.Plan.Nodes = nil
}

func (d *decider) unplace(pods []int32, reason model.Reason) {
	for _, p := range pods {
		d.out.Plan.Unplaced = append(d.out.Plan.Unplaced, model.Unplaced{Pod: p, Reasons: []model.Reason{reason}})
	}
	slices.SortFunc(d.out.Plan.Unplaced, func(a, b model.Unplaced) int { return cmp.Compare(a.Pod, b.Pod) })
}
