package check

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// mutations are faults planted in a correct plan that the solver made: each changes
// the plan, or what it was made for, so that the plan is wrong for one reason.
var mutations = map[string]struct {
	reason string
	plant  func(w *solved)
	want   []Kind
}{
	// Every pod has one place.
	"PodTwice":             {"a pod has one node", func(w *solved) { n := w.node(w.find("group")[0]); n.Pods = append(n.Pods, w.find("noisy")[0]) }, []Kind{Accounting, Requests}},
	"PodTwiceOnOneNode":    {"nor is it twice on its node", func(w *solved) { n := w.node(w.find("paid")[0]); n.Pods = append(n.Pods, n.Pods[0]) }, []Kind{Accounting, Requests}},
	"PodPlacedAndUnplaced": {"a pod that has a node is not without one", func(w *solved) { w.plan.Unplaced[0].Pod = w.find("web")[0] }, []Kind{Accounting}},
	"PodLost":              {"every pod is accounted for", func(w *solved) { w.take(w.find("noisy")[0]) }, []Kind{Accounting}},
	"UnplacedLost":         {"also one that fits nowhere", func(w *solved) { w.plan.Unplaced = nil }, []Kind{Accounting}},
	"NoReason":             {"a pod without a node has a reason", func(w *solved) { w.plan.Unplaced[0].Reasons = nil }, []Kind{Accounting}},
	"RunningPodMoved":      {"a pod that was not to be placed stays where it runs", func(w *solved) { n := w.node(w.find("paid")[0]); n.Pods = append(n.Pods, 0) }, []Kind{Accounting, Taints, Requests}},
	"NoSuchPod":            {"indices refer to pods", func(w *solved) { n := w.node(w.find("paid")[0]); n.Pods = append(n.Pods, 9999) }, []Kind{BadReference}},
	"NoSuchNode":           {"and to nodes", func(w *solved) { w.plan.Existing[0].Node = 99 }, []Kind{BadReference}},
	"NoSuchPool":           {"and to pools", func(w *solved) { w.node(w.find("paid")[0]).Pool = 9 }, []Kind{BadReference}},
	"NodeListedTwice": {"a node is listed once", func(w *solved) {
		w.plan.Existing = append(w.plan.Existing, model.Assignment{Node: w.plan.Existing[0].Node})
	}, []Kind{Accounting}},
	"EmptyNode": {"no node is launched for no pod", func(w *solved) {
		w.c.Headroom = nil
		n := *w.node(w.find("blue")[0])
		n.Pods = nil
		w.plan.Nodes = append(w.plan.Nodes, n)
	}, []Kind{Accounting}},
	"OntoDeletingNode": {"a node that is being deleted takes no pods", func(w *solved) { w.toExisting(w.find("noisy")[0], 2) }, []Kind{Accounting}},

	// Resources.
	"OverCapacity": {"the pods of a node fit on it", func(w *solved) {
		w.toNode(w.find("noisy")[0], w.node(w.find("db")[1]))
		w.toNode(w.find("blue")[0], w.node(w.find("db")[1]))
	}, []Kind{Resources}},
	"ExistingFull":   {"also on an existing node, with those that run there", func(w *solved) { w.toExisting(w.find("group")[0], 0) }, []Kind{Resources, Affinity}},
	"SmallerOption":  {"on every option", func(w *solved) { w.smallOption(w.node(w.find("batch")[0])) }, []Kind{Resources}},
	"DaemonSetGrows": {"with the DaemonSet pods", func(w *solved) { w.snap.Daemons[0].Spec.Requests["cpu"] = 1200 }, []Kind{Resources, Requests}},
	"DaemonSetOnOld": {"also those still to start on an existing node", func(w *solved) {
		d := w.snap.Daemons[0]
		d.Name, d.Spec.NodeSelector = "other", map[string]string{hostnameKey: "old-a"}
		d.Spec.HostPorts = nil
		w.snap.Daemons = append(w.snap.Daemons, d, d)
	}, []Kind{Resources}},
	"DaemonSetForgotten": {"the NodeClaim requests what DaemonSets do", func(w *solved) { w.node(w.find("group")[0]).Requests["cpu"] -= 100 }, []Kind{Requests}},
	"AttachLimit": {"a node attaches so many volumes", func(w *solved) {
		w.snap.Specs[w.snap.Pods[w.find("db")[0]].Spec].Requests[model.VolumesPrefix+"ebs"] = 3
	}, []Kind{Resources, Requests}},
	"AttachLimitOnOld": {"also an existing one", func(w *solved) {
		w.snap.Nodes[1].Allocatable = w.snap.Nodes[1].Allocatable.Clone()
		w.snap.Nodes[1].Allocatable[model.VolumesPrefix+"ebs"] = 1
	}, []Kind{Resources}},
	"PodSlots": {"and takes so many pods", func(w *solved) {
		w.snap.Nodes[1].Allocatable = w.snap.Nodes[1].Allocatable.Clone()
		w.snap.Nodes[1].Allocatable["pods"] = 3
	}, []Kind{Resources}},

	// Node selectors, affinity, volumes, taints, ports.
	"ZoneChanged": {"a volume is in one zone", func(w *solved) { w.rezone(w.node(w.find("db")[1]), "a") }, []Kind{Selector, Spread}},
	"ZoneAdded": {"for every option", func(w *solved) {
		n := w.node(w.find("db")[1])
		o := n.Options[0]
		o.Zone = "c"
		n.Options = slices.Insert(n.Options, 1, o)
	}, []Kind{Selector, Spread}},
	"OtherTeam":        {"a node has the label that its pod selects", func(w *solved) { w.node(w.find("blue")[0]).Labels["team"] = "red" }, []Kind{Selector}},
	"OtherArch":        {"a required affinity term holds", func(w *solved) { w.require("group", "kubernetes.io/arch", model.In, "arm64") }, []Kind{Selector}},
	"GreaterThan":      {"Gt compares integers", func(w *solved) { w.require("noisy", "tier", model.Gt, "3") }, []Kind{Selector}},
	"EmptyTerm":        {"a term without expressions matches no node", func(w *solved) { s := w.spec(w.find("noisy")[0]); s.Affinity = []model.Term{{}} }, []Kind{Selector}},
	"HostnameKnown":    {"nobody knows the hostname of a node to be launched", func(w *solved) { w.require("noisy", hostnameKey, model.In, "old-a") }, []Kind{Selector}},
	"Unsupported":      {"what the model cannot express is not placed", func(w *solved) { w.spec(w.find("noisy")[0]).Unsupported = []string{"resourceClaims"} }, []Kind{Selector}},
	"PoolTaint":        {"the taints of a NodePool are tolerated", func(w *solved) { w.spec(w.find("batch")[0]).Tolerations = nil }, []Kind{Taints}},
	"TolerationValue":  {"an Equal toleration compares values", func(w *solved) { w.spec(w.find("batch")[0]).Tolerations[0].Value = "other" }, []Kind{Taints}},
	"TolerationEffect": {"a toleration is for its effect", func(w *solved) { w.spec(w.find("paid")[0]).Tolerations[0].Effect = model.NoSchedule }, []Kind{Taints}},
	"NodeTaint": {"so are the taints of an existing node", func(w *solved) {
		w.snap.Nodes[1].Taints = []model.Taint{{Key: "maintenance", Effect: model.NoExecute}}
	}, []Kind{Taints}},
	"StartupTaintStays": {"startup taints count on a node that has started", func(w *solved) {
		w.snap.Pools[0].StartupTaints = []model.Taint{{Key: "cni", Effect: model.NoSchedule}}
		w.snap.Nodes[0].Taints = w.snap.Pools[0].StartupTaints
	}, []Kind{Taints}},
	"PortOfAnother": {"two pods of a node have different host ports", func(w *solved) {
		w.spec(w.find("noisy")[0]).HostPorts = w.spec(w.find("db")[0]).HostPorts
		w.toNode(w.find("noisy")[0], w.node(w.find("db")[1]))
	}, []Kind{Ports}},
	"PortOfRunning":   {"also from those of pods that run", func(w *solved) { w.spec(w.find("db")[0]).HostPorts[0].Port = 8080 }, []Kind{Ports}},
	"PortOfDaemonSet": {"and from those of DaemonSets", func(w *solved) { w.spec(w.find("paid")[0]).HostPorts = []model.HostPort{{Port: 9100}} }, []Kind{Ports}},

	// The NodePool, the catalogue, policies, money.
	"NoSuchType":        {"an option is in the catalogue", func(w *solved) { w.node(w.find("batch")[0]).Options[0].InstanceType = "x.large" }, []Kind{Offering}},
	"NotSoldThere":      {"is sold in its zone", func(w *solved) { w.node(w.find("paid")[0]).Options[0].Zone = "b" }, []Kind{Offering}},
	"SoldOut":           {"is available, also for the other node that has the option", func(w *solved) { w.sell(w.node(w.find("batch")[0]), func(o *model.Offering) { o.Available = false }) }, []Kind{Offering, MinValues}},
	"WrongPrice":        {"has the catalogue's price", func(w *solved) { w.node(w.find("blue")[0]).Options[0].Price-- }, []Kind{Offering}},
	"PriceRose":         {"as it is now", func(w *solved) { w.sell(w.node(w.find("blue")[0]), func(o *model.Offering) { o.Price++ }) }, []Kind{Offering}},
	"WorstFirst":        {"options are in order of effective cost", func(w *solved) { slices.Reverse(w.node(w.find("batch")[0]).Options) }, []Kind{Offering}},
	"NoOption":          {"there is an option", func(w *solved) { w.node(w.find("paid")[0]).Options = nil }, []Kind{Offering}},
	"CapacityType":      {"an option is what the NodePool allows", func(w *solved) { w.spot(w.node(w.find("batch")[0])) }, []Kind{PoolRequirements}},
	"PoolNotReady":      {"a NodePool that is not ready launches nothing", func(w *solved) { w.snap.Pools[1].NotReady = "no subnets" }, []Kind{PoolRequirements}},
	"LabelNotPicked":    {"a label that the NodePool requires is picked", func(w *solved) { w.node(w.find("group")[0]).Labels = nil }, []Kind{PoolRequirements, MinValues, Spread, Affinity}},
	"LabelOfTemplate":   {"a label of the template is not", func(w *solved) { w.node(w.find("group")[0]).Labels["tier"] = "iron" }, []Kind{PoolRequirements}},
	"LabelOfKubernetes": {"nor one of Kubernetes' own", func(w *solved) { w.node(w.find("paid")[0]).Labels = map[string]string{zone: "a"} }, []Kind{PoolRequirements}},
	"MinValues":         {"the options have minValues different values", func(w *solved) { n := w.node(w.find("group")[0]); n.Options = n.Options[:1] }, []Kind{MinValues}},
	"Limit":             {"a NodePool's limit counts the largest option", func(w *solved) { w.snap.Pools[1].Limits["cpu"]-- }, []Kind{Limits}},
	"LimitOfUsage":      {"and what it has already", func(w *solved) { w.snap.Pools[1].Usage["cpu"]++ }, []Kind{Limits}},
	"LimitOfNodes":      {"nodes are limited, too", func(w *solved) { w.snap.Pools[1].Limits[model.NodeCount] = 0 }, []Kind{Limits}},
	"Ceiling":           {"a ceiling counts the most expensive option", func(w *solved) { w.c.Headroom[0].Left-- }, []Kind{OverHeadroom}},
	"CeilingOfVolumes":  {"and what a node costs besides", func(w *solved) { w.snap.Catalogs[0].NodeCost++ }, []Kind{OverHeadroom}},
	"ReservationFull":   {"a reservation has so many free", func(w *solved) { w.reservation().Free = 0 }, []Kind{Reserved}},
	"Denied":            {"a ceiling policy denied the option", func(w *solved) { w.c.Denied[0] = model.Denied{Pool: 1, InstanceType: "c.xlarge"} }, []Kind{Refused}},
	"Excluded":          {"a rank policy excluded the option", func(w *solved) { w.c.Excluded = func(p int32, _ model.Option) bool { return p == 2 } }, []Kind{Excluded}},

	// Pods and other pods.
	"SkewByOne":           {"a spread allows so much skew", func(w *solved) { w.alone(w.find("web")[3], "b") }, []Kind{Spread}},
	"MinDomains":          {"with fewer domains than minDomains the minimum is 0", func(w *solved) { w.spread().MinDomains = 9 }, []Kind{Spread}},
	"MatchLabelKeys":      {"without its matchLabelKeys a spread counts the old ReplicaSet", func(w *solved) { w.spread().Selector.Labels = w.spread().Selector.Labels[:1] }, []Kind{Spread}},
	"SpreadWithoutLabel":  {"a node without the topology label takes no such pod", func(w *solved) { w.spread().Key = "rack" }, []Kind{Spread}},
	"SpreadWherever":      {"nodes that may come up in one domain or another are counted in the worse", func(w *solved) { w.alone(w.find("web")[0], "a", "b"); w.alone(w.find("web")[1], "a", "b") }, []Kind{Spread}},
	"AntiAffinityOwn":     {"anti-affinity keeps pods of a kind apart", func(w *solved) { w.grow(); w.toExisting(w.find("cache")[0], 1) }, []Kind{AntiAffinity}},
	"AntiAffinityRunning": {"the term of a pod that runs keeps others out", func(w *solved) { w.grow(); w.toExisting(w.find("noisy")[0], 0) }, []Kind{AntiAffinity}},
	"AntiAffinityOfZone":  {"in the whole domain", func(w *solved) { w.snap.Specs[0].PodAntiAffinity[0].Key = zone }, []Kind{AntiAffinity}},
	"NamespaceSelector": {"in the namespaces of the term", func(w *solved) {
		w.snap.Specs[0].PodAntiAffinity[0].Selector = model.PodSelector{Namespaces: []string{"ns", "other"}}
	}, []Kind{AntiAffinity}},
	"AffinityElsewhere":   {"affinity wants a pod in the same domain", func(w *solved) { w.alone(w.find("reader")[0], "c") }, []Kind{Affinity}},
	"AffinityWherever":    {"wherever the node comes up", func(w *solved) { w.alone(w.find("reader")[0], "b", "c") }, []Kind{Affinity}},
	"AffinityToNobody":    {"and one that is placed", func(w *solved) { w.leaveOut(w.find("db")...) }, []Kind{Affinity}},
	"AffinityOfNamespace": {"in a namespace of the term", func(w *solved) { w.spec(w.find("reader")[0]).PodAffinity[0].Selector.Namespaces = []string{"other"} }, []Kind{Affinity}},
	"AffinityToAllTerms": {"one that all terms select", func(w *solved) {
		s := w.spec(w.find("reader")[0])
		t := s.PodAffinity[0]
		t.Selector.Labels = []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"reader"}}}
		s.PodAffinity = append(s.PodAffinity, t)
	}, []Kind{Affinity}},
	"FirstOfTwoZones":    {"only one pod of a group may be the first", func(w *solved) { w.alone(w.find("group")[0], "a") }, []Kind{Affinity}},
	"FirstBesideAnother": {"and none where one runs elsewhere", func(w *solved) { w.snap.Specs[1].Labels["app"] = "group" }, []Kind{Affinity}},
	"FirstNotItself": {"nor one that its own term does not select", func(w *solved) {
		w.spec(w.find("group")[0]).Labels["app2"] = "x"
		w.spec(w.find("group")[0]).PodAffinity[0].Selector.Labels = []model.Requirement{{Key: "app2", Operator: model.In, Values: []string{"y"}}}
	}, []Kind{Affinity}},
	"FirstWithoutLabel":    {"nor on a node without the topology label", func(w *solved) { w.spec(w.find("group")[0]).PodAffinity[0].Key = "rack" }, []Kind{Affinity}},
	"BindingOrderCircular": {"two that wait for each other are never bound", func(w *solved) { w.mutualAffinity("noisy", "blue") }, []Kind{Affinity}},
}

// TestMutations: every planted fault is rejected, for the right reasons and for no
// other.
func TestMutations(t *testing.T) {
	if len(mutations) < 50 {
		t.Fatalf("there are %d mutations", len(mutations))
	}
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			w := solve(t)
			m.plant(w)
			found := Plan(w.snap, w.plan, w.c)
			if diff := cmp.Diff(sorted(m.want), kindsOf(found)); diff != "" {
				t.Errorf("%s: -want +got\n%s\n%v", m.reason, diff, found)
			}
		})
	}
}

// kindsOf are the kinds of violations, each once.
func kindsOf(found []Violation) []Kind {
	var out []Kind
	for _, v := range found {
		out = append(out, v.Kind)
	}
	return sorted(out)
}

func sorted(kinds []Kind) []Kind {
	kinds = slices.Clone(kinds)
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// smallOption gives a node an option that is too small for its pods.
func (w *solved) smallOption(n *model.PlannedNode) {
	n.Options = append(n.Options, model.Option{InstanceType: "m.large", Zone: n.Options[0].Zone, CapacityType: model.OnDemand, Price: 100_000, Effective: 9})
}

// grow makes the existing nodes larger.
func (w *solved) grow() {
	for i := range w.snap.Nodes {
		w.snap.Nodes[i].Allocatable = model.Resources{"cpu": 9000, "memory": 32 * gib, "pods": 20, model.VolumesPrefix + "ebs": 2}
	}
}

func (w *solved) rezone(n *model.PlannedNode, to string) {
	for i := range n.Options {
		n.Options[i].Zone = to
	}
}

func (w *solved) require(app, key string, operator model.Operator, values ...string) {
	w.spec(w.find(app)[0]).Affinity = []model.Term{{{Key: key, Operator: operator, Values: values}}}
}

// sell changes the offering of a node's first option.
func (w *solved) sell(n *model.PlannedNode, change func(*model.Offering)) {
	o := &n.Options[0]
	for i := range w.snap.Catalogs[0].Types {
		t := &w.snap.Catalogs[0].Types[i]
		for k := range t.Offerings {
			if f := &t.Offerings[k]; t.Name == o.InstanceType && f.Zone == o.Zone && f.CapacityType == o.CapacityType {
				change(f)
			}
		}
	}
}

// spot makes a node's first option a spot offering, at its price.
func (w *solved) spot(n *model.PlannedNode) {
	o := &n.Options[0]
	o.CapacityType = model.Spot
	w.sell(n, func(f *model.Offering) { o.Price = f.Price })
}

func (w *solved) reservation() *model.Reservation {
	types := w.snap.Catalogs[0].Types
	for i := range types {
		for k := range types[i].Offerings {
			if r := types[i].Offerings[k].Reservation; r != nil {
				return r
			}
		}
	}
	w.t.Fatal("there is no reservation")
	return nil
}

func (w *solved) spread() *model.Spread { return &w.spec(w.find("web")[0]).Spread[0] }

// mutualAffinity gives pods of two kinds a required affinity to each other.
func (w *solved) mutualAffinity(one, other string) {
	for app, wants := range map[string]string{one: other, other: one} {
		w.spec(w.find(app)[0]).PodAffinity = []model.PodTerm{{Key: zone, Selector: apps(wants)}}
	}
}

// TestEveryKindIsPlanted: no kind of violation is without a planted fault.
func TestEveryKindIsPlanted(t *testing.T) {
	planted := map[Kind]bool{}
	for _, m := range mutations {
		for _, k := range m.want {
			planted[k] = true
		}
	}
	for _, k := range []Kind{
		BadReference, Accounting, Resources, Requests, Selector, Taints, Ports, PoolRequirements, Offering, Reserved, Limits,
		OverHeadroom, Refused, Excluded, MinValues, Spread, Affinity, AntiAffinity,
	} {
		if !planted[k] {
			t.Errorf("no mutation plants %s", k)
		}
	}
}
