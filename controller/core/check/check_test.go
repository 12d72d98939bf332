package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

const gib = 1 << 30

// fixture is a plan with nothing wrong: one pod goes to a node that exists,
// two to a new one, the fourth has no place.
func fixture() (*model.Snapshot, *model.Plan, *Constraints) {
	large := instancetype.New("m.large", 2000, 8, 29,
		instancetype.OnDemand("a", 100_000), instancetype.OnDemand("b", 110_000), instancetype.SoldOut(instancetype.OnDemand("c", 90_000)))
	large.Labels["karpenter.k8s.aws/instance-family"] = "m"
	large.Allocatable = model.Resources{"cpu": 1900, "memory": 7 * gib, "pods": 29}
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(
			large,
			instancetype.ARM64(instancetype.New("z.small", 1000, 2, 10, instancetype.OnDemand("a", 120_000))),
		)},
		Pools: []model.Pool{{
			Name: "general", NodeClass: "default", NodeLabels: map[string]string{"tier": "gold"},
			Requirements: []model.Requirement{{Key: "team", Operator: model.In, Values: []string{"red"}}},
			Limits:       model.Resources{"cpu": 8000}, Usage: model.Resources{"cpu": 4000},
		}},
		Nodes: []model.Node{{
			Name: "there", State: model.Initialized, InstanceType: "m.large", Zone: "a", CapacityType: model.OnDemand,
			Allocatable: model.Resources{"cpu": 1900, "memory": 7 * gib, "pods": 29},
		}},
		Daemons: []model.DaemonSet{{
			Namespace: "kube-system", Name: "agent",
			Spec: model.PodSpec{Requests: model.Resources{"cpu": 100, "pods": 1}, HostPorts: []model.HostPort{{Port: 9100, Protocol: "TCP"}}},
		}},
		Specs: []model.PodSpec{
			{Namespace: "ns", Requests: model.Resources{"cpu": 900, "memory": gib, "pods": 1}, NodeSelector: map[string]string{"kubernetes.io/os": "linux"}},
			{Namespace: "ns", Requests: model.Resources{"cpu": 1000, "pods": 1}},
		},
	}
	for _, name := range []string{"old", "a", "b", "c", "d"} {
		s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: name, Spec: 0, Node: -1})
	}
	s.Pods[0].Spec, s.Pods[0].Node = 1, 0
	s.Nodes[0].Labels = map[string]string{"kubernetes.io/os": "linux"}
	s.Specs[0].Requests["cpu"] = 800
	options := []model.Option{
		{InstanceType: "m.large", Zone: "a", CapacityType: model.OnDemand, Price: 100_000, Effective: 0.1},
		{InstanceType: "m.large", Zone: "b", CapacityType: model.OnDemand, Price: 110_000, Effective: 0.11},
	}
	plan := &model.Plan{
		Existing: []model.Assignment{{Node: 0, Pods: []int32{1}}},
		Nodes:    []model.PlannedNode{{Pool: 0, Pods: []int32{2, 3}, Labels: map[string]string{"team": "red"}, Options: options, Requests: model.Resources{"cpu": 1700, "memory": 2 * gib, "pods": 3}}},
		Unplaced: []model.Unplaced{{Pod: 4, Reasons: []model.Reason{{Code: model.TooLarge, Message: "x"}}}},
	}
	return s, plan, &Constraints{Pods: []int32{1, 2, 3, 4}, Headroom: []model.Headroom{{Scope: "cluster", Left: 110_000}}}
}

func TestPlan(t *testing.T) {
	cases := map[string]struct {
		reason string
		spoil  func(s *model.Snapshot, p *model.Plan, c *Constraints)
		want   []Kind
	}{
		"Good":         {reason: "nothing is wrong", spoil: func(*model.Snapshot, *model.Plan, *Constraints) {}},
		"Twice":        {reason: "a pod has one place", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Unplaced[0].Pod = 2 }, want: []Kind{Accounting, Accounting}},
		"Lost":         {reason: "every pod has a fate", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Unplaced = nil }, want: []Kind{Accounting}},
		"NotAsked":     {reason: "only pods asked for are placed", spoil: func(_ *model.Snapshot, _ *model.Plan, c *Constraints) { c.Pods = c.Pods[:3] }, want: []Kind{Accounting}},
		"NoSuchPod":    {reason: "indices lead somewhere", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Pods[1] = 77 }, want: []Kind{BadReference, Accounting}},
		"NoReason":     {reason: "pods without a place have a reason", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Unplaced[0].Reasons = nil }, want: []Kind{Accounting}},
		"NoSuchNode":   {reason: "existing nodes exist", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Existing[0].Node = 3 }, want: []Kind{BadReference}},
		"Deleting":     {reason: "a node on its way out takes nothing", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Nodes[0].State = model.Deleting }, want: []Kind{Accounting}},
		"ExistingFull": {reason: "bound pods count", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Specs[1].Requests["cpu"] = 1001 }, want: []Kind{Resources}},
		"DaemonToCome": {reason: "DaemonSets still to come count", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Nodes[0].Allocatable["cpu"] = 1899 }, want: []Kind{Resources}},
		"ExistingTaint": {reason: "taints of existing nodes count", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Nodes[0].Taints = []model.Taint{{Key: "x", Effect: model.NoSchedule}}
		}, want: []Kind{Taints}},
		"ExistingLabel": {reason: "labels of existing nodes count", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Nodes[0].Labels = nil }, want: []Kind{Selector}},
		"NewFull":       {reason: "two pods and the DaemonSet have to fit", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Specs[0].Requests["cpu"] = 901 }, want: []Kind{Resources, Resources, Resources, Requests}},
		"SecondOption": {reason: "every option has to hold all pods", spoil: func(_ *model.Snapshot, p *model.Plan, c *Constraints) {
			p.Nodes[0].Options[1] = model.Option{InstanceType: "z.small", Zone: "a", CapacityType: model.OnDemand, Price: 120_000, Effective: 0.12}
			c.Headroom = nil
		}, want: []Kind{Resources}},
		"Selector": {reason: "a pod that wants another family", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Specs[0].NodeSelector = map[string]string{"tier": "gold", "team": "blue"}
		}, want: []Kind{Selector, Selector, Selector, Selector, Selector}},
		"PoolTaint": {reason: "the pool's taints count", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Taints = []model.Taint{{Key: "x", Effect: model.NoExecute}}
		}, want: []Kind{Taints, Taints}},
		"TaintCompared": {reason: "5 is not more than 7, and less than 12", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Taints = []model.Taint{{Key: "x", Value: "5", Effect: model.NoSchedule}}
			s.Specs[0].Tolerations = []model.Toleration{{Key: "x", Compare: model.Gt, Value: "7"}}
			s.Nodes[0].Taints = []model.Taint{{Key: "x", Value: "5", Effect: model.NoSchedule}}
			s.Specs[1].Tolerations = []model.Toleration{{Key: "x", Compare: model.Lt, Value: "12"}}
		}, want: []Kind{Taints, Taints, Taints}},
		"TaintComparedAndTolerated": {reason: "12 is more than 7, by number and not by letter", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Taints = []model.Taint{{Key: "x", Value: "12", Effect: model.NoSchedule}}
			s.Specs[0].Tolerations = []model.Toleration{{Key: "x", Compare: model.Gt, Value: "7"}}
			s.Daemons = nil
		}},
		"TaintNotANumber": {reason: "what is no integer compares with nothing", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Taints = []model.Taint{{Key: "x", Value: "012", Effect: model.NoSchedule}}
			s.Specs[0].Tolerations = []model.Toleration{{Key: "x", Compare: model.Gt, Value: "7"}}
		}, want: []Kind{Taints, Taints}},
		"Ports": {reason: "two pods of a node want one port, and one more holds it on the old node", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Specs[0].HostPorts = []model.HostPort{{Port: 80}}
			s.Specs[1].HostPorts = []model.HostPort{{Port: 80, IP: "10.0.0.1", Protocol: "TCP"}}
		}, want: []Kind{Ports, Ports}},
		"DaemonPort": {reason: "DaemonSets hold ports on every option", spoil: func(s *model.Snapshot, p *model.Plan, _ *Constraints) {
			p.Nodes[0].Pods, p.Unplaced[0].Pod = p.Nodes[0].Pods[:1], 3
			p.Unplaced = append(p.Unplaced, model.Unplaced{Pod: 4, Reasons: p.Unplaced[0].Reasons})
			p.Existing = nil
			p.Unplaced = append(p.Unplaced, model.Unplaced{Pod: 1, Reasons: p.Unplaced[0].Reasons})
			s.Specs[0].HostPorts = []model.HostPort{{Port: 9100}}
		}, want: []Kind{Ports, Ports}},
		"PoolExcludes": {reason: "options meet the pool's requirements", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "topology.kubernetes.io/zone", Operator: model.NotIn, Values: []string{"b"}})
		}, want: []Kind{PoolRequirements}},
		"PoolNotReady":  {reason: "a pool that is not ready launches nothing", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Pools[0].NotReady = "x" }, want: []Kind{PoolRequirements}},
		"WrongPrice":    {reason: "prices are the catalogue's", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Options[0].Price-- }, want: []Kind{Offering}},
		"SoldOut":       {reason: "options are available", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Options[0].Zone = "c" }, want: []Kind{Offering}},
		"NoSuchType":    {reason: "options exist", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Options[0].InstanceType = "x" }, want: []Kind{Offering}},
		"NoOptions":     {reason: "a node can be launched somehow", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Options = nil }, want: []Kind{Offering}},
		"Order":         {reason: "the best option comes first", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Options[0].Effective = 1 }, want: []Kind{Offering}},
		"LabelMissing":  {reason: "a label that the pool requires has to be chosen", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Labels = nil }, want: []Kind{PoolRequirements, PoolRequirements}},
		"LabelOfOthers": {reason: "other labels are not for the plan to choose", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Labels["tier"] = "iron" }, want: []Kind{PoolRequirements}},
		"NoSuchPool":    {reason: "pools exist", spoil: func(s *model.Snapshot, p *model.Plan, _ *Constraints) { p.Nodes[0].Pool = 1; s.Pools[0].Limits = nil }, want: []Kind{BadReference}},
		"Limit":         {reason: "the limit counts the largest option", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Pools[0].Limits["cpu"] = 5999 }, want: []Kind{Limits}},
		"LimitOfNodes": {reason: "nodes can be limited", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Limits = model.Resources{"nodes": 0}
		}, want: []Kind{Limits}},
		"Headroom": {reason: "the dearest option counts", spoil: func(_ *model.Snapshot, _ *model.Plan, c *Constraints) { c.Headroom[0].Left = 109_999 }, want: []Kind{OverHeadroom}},
		"HeadroomOfVolumes": {reason: "so does what a node costs besides its instance", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Catalogs[0].NodeCost = 1
		}, want: []Kind{OverHeadroom}},
		"Reserved": {reason: "a reservation holds so many instances", spoil: func(s *model.Snapshot, p *model.Plan, _ *Constraints) {
			f := &s.Catalogs[0].Types[0].Offerings[0]
			f.CapacityType, f.Reservation = model.Reserved, &model.Reservation{}
			p.Nodes[0].Options[0].CapacityType = model.Reserved
		}, want: []Kind{Reserved}},
		"OtherHeadroom": {reason: "a ceiling of other pools does not", spoil: func(_ *model.Snapshot, _ *model.Plan, c *Constraints) {
			c.Headroom[0] = model.Headroom{Pools: []bool{false}, Left: -1}
		}},
		"Denied": {reason: "refused launches stay out of the options", spoil: func(_ *model.Snapshot, _ *model.Plan, c *Constraints) {
			c.Denied = []model.Denied{{Pool: 0, Zone: "b"}}
		}, want: []Kind{Refused}},
		"Unsupported": {reason: "pods with constraints not supported are not placed", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Specs[0].Unsupported = []string{"volumes"} }, want: []Kind{Selector, Selector, Selector}},
		"Excluded": {reason: "what a rank policy dropped stays out", spoil: func(_ *model.Snapshot, _ *model.Plan, c *Constraints) {
			c.Excluded = func(pool int32, o model.Option) bool { return pool == 0 && o.Zone == "b" }
		}, want: []Kind{Excluded}},
		"MinValues": {reason: "two zones are fewer than three", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "topology.kubernetes.io/zone", Operator: model.Exists, MinValues: 3})
		}, want: []Kind{MinValues}},
		"MinValuesKept": {reason: "two zones are two", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "topology.kubernetes.io/zone", Operator: model.Exists, MinValues: 2})
		}},
		"MinValuesRelaxed": {reason: "or best effort is enough", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) {
			s.Settings.RelaxMinValues = true
			s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "topology.kubernetes.io/zone", Operator: model.Exists, MinValues: 3})
		}},
		"NoSuchSpec":    {reason: "specs exist", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Pods[2].Spec = 77 }, want: []Kind{BadReference}},
		"NoSuchCatalog": {reason: "a pool without a catalogue launches nothing", spoil: func(s *model.Snapshot, _ *model.Plan, _ *Constraints) { s.Pools[0].Catalog = -1 }, want: []Kind{Offering, Offering}},
		"EmptyNode": {reason: "no node is launched for nobody", spoil: func(_ *model.Snapshot, p *model.Plan, _ *Constraints) {
			p.Nodes = append(p.Nodes, model.PlannedNode{Labels: p.Nodes[0].Labels, Options: p.Nodes[0].Options[:1], Requests: p.Nodes[0].Requests})
		}, want: []Kind{Accounting, OverHeadroom}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, plan, c := fixture()
			tc.spoil(s, plan, c)
			found := Plan(s, plan, *c)
			var kinds []Kind
			for _, v := range found {
				kinds = append(kinds, v.Kind)
			}
			if diff := cmp.Diff(tc.want, kinds); diff != "" {
				t.Errorf("%s\n%s%v", tc.reason, diff, found)
			}
		})
	}
}

func TestRequirements(t *testing.T) {
	labels := labelView{values: map[string]string{"zone": "a", "cpu": "8", "word": "x"}, unnamed: true}
	cases := map[string]struct {
		key    string
		op     model.Operator
		values []string
		want   bool
	}{
		"In":              {key: "zone", op: model.In, values: []string{"b", "a"}, want: true},
		"InAbsent":        {key: "none", op: model.In, values: []string{""}},
		"NotIn":           {key: "zone", op: model.NotIn, values: []string{"a"}},
		"NotInAbsent":     {key: "none", op: model.NotIn, values: []string{"a"}, want: true},
		"Exists":          {key: "zone", op: model.Exists, want: true},
		"ExistsAbsent":    {key: "none", op: model.Exists},
		"DoesNotExist":    {key: "none", op: model.DoesNotExist, want: true},
		"Gt":              {key: "cpu", op: model.Gt, values: []string{"7"}, want: true},
		"GtEqual":         {key: "cpu", op: model.Gt, values: []string{"8"}},
		"Gte":             {key: "cpu", op: model.Gte, values: []string{"8"}, want: true},
		"Lt":              {key: "cpu", op: model.Lt, values: []string{"9"}, want: true},
		"Lte":             {key: "cpu", op: model.Lte, values: []string{"7"}},
		"GtOfAWord":       {key: "word", op: model.Gt, values: []string{"1"}},
		"GtAbsent":        {key: "none", op: model.Gt, values: []string{"1"}},
		"Hostname":        {key: hostnameKey, op: model.In, values: []string{"any"}},
		"NotHostname":     {key: hostnameKey, op: model.NotIn, values: []string{"any"}, want: true},
		"SomeHostname":    {key: hostnameKey, op: model.Exists, want: true},
		"UnknownOperator": {key: "zone", op: "Near", values: []string{"a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := labels.meetsExpression(&model.Requirement{Key: tc.key, Operator: tc.op, Values: tc.values}); got != tc.want {
				t.Errorf("%s %s %v: %v", tc.key, tc.op, tc.values, got)
			}
		})
	}
}
