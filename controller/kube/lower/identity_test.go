package lower

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
)

// identityOf is the part of a node that decides what it costs.
type identityOf struct {
	Type, Zone, Pool string
	CapacityType     model.CapacityType
	Price            model.Price
	Launched         time.Time
	Mislabelled      bool
	Running          model.Price
}

// TestIdentity: what a node costs does not depend on labels that the node may write.
func TestIdentity(t *testing.T) {
	start := noon.Add(-2 * time.Hour)
	big := identityOf{Type: "big", Zone: "za", Pool: "general", CapacityType: model.OnDemand, Price: 800_000, Launched: start, Running: 800_000}
	lying := big
	lying.Mislabelled = true
	earlier := big
	earlier.Launched = start.Add(-time.Minute)
	claimed := map[string]string{
		corev1.LabelInstanceTypeStable: "big", corev1.LabelTopologyZone: "za", karpv1.LabelCapacityType: "on-demand", karpv1.LabelNodePool: "general",
	}
	with := func(key, value string) map[string]string {
		out := maps.Clone(claimed)
		if out[key] = value; value == "" {
			delete(out, key)
		}
		return out
	}
	listed := &provider.Instance{ProviderID: "aws:///za/i-1", InstanceType: "big", Zone: "za", CapacityType: model.OnDemand, NodePool: "general", LaunchTime: start}
	for name, tc := range map[string]struct {
		reason      string
		node, claim map[string]string // labels; a nil claim is none
		listed      *provider.Instance
		want        identityOf
		warning     string
	}{
		"honest": {"nothing to report", claimed, claimed, listed, big, ""},
		"type":   {"a node that calls itself smaller costs what it is", with(corev1.LabelInstanceTypeStable, "small"), claimed, nil, lying, "Node n"},
		"capacity type": {
			"a node that calls itself spot costs what it is", with(karpv1.LabelCapacityType, "spot"), claimed, nil, lying, "Node n",
		},
		"zone":     {"a zone without price makes nothing free", with(corev1.LabelTopologyZone, "elsewhere"), claimed, nil, lying, "Node n"},
		"no type":  {"a label that is taken off makes nothing free", with(corev1.LabelInstanceTypeStable, ""), claimed, nil, lying, "Node n"},
		"pool":     {"a node stays in the scopes of its NodePool", with(karpv1.LabelNodePool, "other"), claimed, nil, lying, "Node n"},
		"claim":    {"EC2 knows better than a claim that was edited", claimed, with(corev1.LabelInstanceTypeStable, "small"), listed, lying, "NodeClaim c"},
		"no claim": {"an instance of ours is billed without its claim too", claimed, nil, listed, big, ""},
		"start": {
			"EC2 bills since the instance started", claimed, claimed,
			&provider.Instance{ProviderID: "aws:///za/i-1", InstanceType: "big", Zone: "za", CapacityType: model.OnDemand, NodePool: "general", LaunchTime: start.Add(-time.Minute)}, earlier, "",
		},
		"of others": {
			"a node that nobody launched here is not ours to pay", claimed, nil, nil,
			identityOf{Type: "big", Zone: "za", CapacityType: model.OnDemand, Launched: noon.Add(-time.Hour)},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Inputs{
				Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)}, Catalogs: map[string]model.Catalog{"default": testCatalog()},
				Cloud: cloudOf{listed: tc.listed},
			}
			node := parse[corev1.Node](t, `{metadata: {name: "n", creationTimestamp: "2026-03-04T11:00:00Z"}, spec: {providerID: "aws:///za/i-1"}}`)
			node.Labels = tc.node
			in.Nodes = []*corev1.Node{node}
			if tc.claim != nil {
				c := claim(t, "c", fmt.Sprintf(launched, `, {type: Registered, status: "True"}, {type: Initialized, status: "True"}`)+"  nodeName: n\n  providerID: aws:///za/i-1\n")
				c.Labels = tc.claim
				in.NodeClaims = []*karpv1.NodeClaim{c}
			}
			s, warnings := Build(in)
			n, scope := &s.Nodes[0], spend.Scopes(&s)[0]
			got := identityOf{n.InstanceType, n.Zone, n.PoolName, n.CapacityType, n.Price, n.LaunchedAt, n.Mislabelled, scope.Running}
			if n.Pool >= 0 {
				got.Pool = s.Pools[n.Pool].Name
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if (tc.warning != "") != (len(warnings) == 1) || len(warnings) > 0 && (warnings[0].Object != tc.warning || warnings[0].Reason != karpv1.EventNodeIdentityMismatch) {
				t.Errorf("warnings %+v, want one on %q", warnings, tc.warning)
			}
		})
	}
}

// TestAssumedPrice: a node whose price nobody knows counts at a price on the high side.
func TestAssumedPrice(t *testing.T) {
	none, sells := map[string]model.Catalog{}, map[string]model.Catalog{"default": testCatalog()}
	for name, tc := range map[string]struct {
		reason           string
		labels, capacity string
		catalogs         map[string]model.Catalog
		want             model.Price
	}{
		"no type":        {"it may be the dearest that there is", "", "", sells, 800_000},
		"unknown zone":   {"the dearest of its type", "node.kubernetes.io/instance-type: small, topology.kubernetes.io/zone: zz, karpenter.sh/capacity-type: spot", "", sells, 200_000},
		"unknown type":   {"the dearest of all types, its size is not known", "node.kubernetes.io/instance-type: new", "", sells, 800_000},
		"known size":     {"the dearest that is not larger", "node.kubernetes.io/instance-type: new", `{cpu: "2", memory: 1Gi, pods: "9"}`, sells, 200_000},
		"no catalogue":   {"by its size", "node.kubernetes.io/instance-type: new", `{cpu: "2", memory: 1Gi, pods: "9"}`, none, 1_200_000},
		"nothing at all": {"as a large one", "", "", none, 9_600_000},
	} {
		t.Run(name, func(t *testing.T) {
			c := parse[karpv1.NodeClaim](t, `{metadata: {name: c, labels: {karpenter.sh/nodepool: general, `+tc.labels+`}}, spec: {nodeClassRef: {name: default}},
				status: {providerID: "aws:///za/i-1", conditions: [{type: Launched, status: "True", lastTransitionTime: "2026-03-04T10:00:00Z"}]}}`)
			if tc.capacity != "" {
				c.Status.Capacity = *parse[karpv1.ResourceList](t, tc.capacity)
			}
			s, warnings := Build(Inputs{Time: noon, NodeClaims: []*karpv1.NodeClaim{c}, Catalogs: tc.catalogs})
			if n := &s.Nodes[0]; n.Price != tc.want || !n.PriceAssumed {
				t.Errorf("%s: price %d, assumed %v; want %d", tc.reason, n.Price, n.PriceAssumed, tc.want)
			}
			if len(warnings) != 1 || warnings[0].Reason != karpv1.EventPriceUnknown || !strings.Contains(warnings[0].Message, "counted as") {
				t.Errorf("warnings %+v", warnings)
			}
		})
	}
}

// TestUnplannedCostsNothing: a claim that somebody else made costs nothing before its launch is decided,
// whatever type it names, so that it cannot use up a cap.
func TestUnplannedCostsNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		metadata string
		want     bool
	}{
		"by requirement":  {"", true},
		"by label":        {"labels: {node.kubernetes.io/instance-type: new}", true},
		"a launch begun":  {`annotations: {spokeshave.dev/attempt: "{}"}, labels: {node.kubernetes.io/instance-type: new}`, false},
		"options decided": {`annotations: {spokeshave.dev/launch: '[{"instanceType":"small","zone":"za","capacityType":"spot"}]'}`, false},
	} {
		c := parse[karpv1.NodeClaim](t, `{metadata: {name: c, `+tc.metadata+`}, spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default},
			requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [new]}]}}`)
		s, warnings := Build(Inputs{Time: noon, NodeClaims: []*karpv1.NodeClaim{c}, Catalogs: map[string]model.Catalog{"default": testCatalog()}})
		if n := &s.Nodes[0]; (n.Cost() == 0) != tc.want || tc.want && len(warnings) > 0 {
			t.Errorf("%s: costs %d, want nothing: %v; warnings %+v", name, n.Cost(), tc.want, warnings)
		}
	}
}

// TestForgedReservation: a launch does not become free because the annotation with its
// reserved price is missing.
func TestForgedReservation(t *testing.T) {
	c := claim(t, "c", `{metadata: {annotations: {spokeshave.dev/launch: '[{"instanceType":"big","zone":"za","capacityType":"on-demand","price":0}]'}}}`)
	s, _ := Build(Inputs{Time: noon, NodeClaims: []*karpv1.NodeClaim{c}, Catalogs: map[string]model.Catalog{"default": testCatalog()}})
	if got := s.Nodes[0].Reserved; got != 800_000 {
		t.Errorf("reserved %d, want what the option costs now", got)
	}
}

// TestAssumedPerCPU: the price that is assumed without a catalogue is above that of
// every type without accelerators.
func TestAssumedPerCPU(t *testing.T) {
	for _, region := range catalog.Regions() {
		if strings.HasPrefix(region, "cn-") {
			continue // priced in CNY
		}
		types, sales, err := catalog.Load(region)
		if err != nil {
			t.Fatal(err)
		}
		c := catalog.Lower(types, sales, catalog.Options{})
		for i := range c.Types {
			typ := &c.Types[i]
			if !within(typ.Capacity, model.Resources{cpu: 1 << 40, "memory": 0, "pods": 0, "ephemeral-storage": 0}) {
				continue
			}
			if assumed := model.Price(typ.Capacity[cpu]/1000) * assumedPerCPU; assumed < dearest(typ) {
				t.Errorf("%s in %s costs %d, more than the %d that would be assumed", typ.Name, region, dearest(typ), assumed)
			}
		}
	}
}

// cloudOf is a cloud with an instance, and others of which no claim knows.
type cloudOf struct {
	listed    *provider.Instance
	unclaimed []provider.Instance
}

func (c cloudOf) Get(id string) (provider.Instance, bool) {
	if c.listed == nil || c.listed.ProviderID != id {
		return provider.Instance{}, false
	}
	return *c.listed, true
}

func (c cloudOf) Of(claim string) (provider.Instance, bool) {
	if c.listed == nil || c.listed.Claim != claim {
		return provider.Instance{}, false
	}
	return *c.listed, true
}

func (c cloudOf) Unclaimed() []provider.Instance { return c.unclaimed }

// TestStatusOfAClaim: what a claim's instance is and what it holds does not depend on the
// status of the claim, where EC2 and the catalogue know better.
func TestStatusOfAClaim(t *testing.T) {
	labels := map[string]string{
		corev1.LabelInstanceTypeStable: "big", corev1.LabelTopologyZone: "za", karpv1.LabelCapacityType: "on-demand", karpv1.LabelNodePool: "general",
	}
	instance := provider.Instance{ProviderID: "aws:///za/i-1", InstanceType: "big", Zone: "za", CapacityType: model.OnDemand, NodePool: "general", Claim: "c", LaunchTime: noon.Add(-2 * time.Hour)}
	anothers := instance
	anothers.ProviderID, anothers.Claim, anothers.InstanceType = "aws:///za/i-2", "d", "small"
	for name, tc := range map[string]struct {
		reason   string
		status   string
		node     string // what the node reports of its CPUs
		listed   provider.Instance
		price    model.Price
		cpu      int64 // of allocatable, in millicores
		used     int64
		warnings int
	}{
		"honest":    {"nothing to report", "providerID: aws:///za/i-1", "8", instance, 800_000, 8000, 8000, 0},
		"nothing":   {"the instance that is tagged with the claim counts", "providerID: aws:///za/i-0", "8", instance, 800_000, 8000, 8000, 1},
		"another's": {"an instance of another claim is not this one's", "providerID: aws:///za/i-2", "8", anothers, 800_000, 8000, 8000, 1},
		"larger":    {"a node has no more than its type", "providerID: aws:///za/i-1", "1000", instance, 800_000, 7900, 8000, 1},
		"smaller":   {"a node uses its NodePool's limits as its type does", "providerID: aws:///za/i-1", "1m", instance, 800_000, 1, 8000, 1},
	} {
		t.Run(name, func(t *testing.T) {
			node := parse[corev1.Node](t, `{metadata: {name: "n", creationTimestamp: "2026-03-04T11:00:00Z"}, spec: {providerID: "aws:///za/i-1"},
				status: {capacity: {cpu: "`+tc.node+`"}, allocatable: {cpu: "`+tc.node+`"}}}`)
			node.Labels = labels
			c := claim(t, "c", fmt.Sprintf(launched, `, {type: Registered, status: "True"}, {type: Initialized, status: "True"}`)+"  nodeName: \"n\"\n  "+tc.status+"\n")
			c.Labels = labels
			s, warnings := Build(Inputs{
				Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)}, Catalogs: map[string]model.Catalog{"default": testCatalog()},
				Nodes: []*corev1.Node{node}, NodeClaims: []*karpv1.NodeClaim{c}, Cloud: cloudOf{listed: &tc.listed},
			})
			n := &s.Nodes[0]
			if n.Price != tc.price || n.Allocatable[model.CPU] != tc.cpu || s.Pools[0].Usage[model.CPU] != tc.used || len(warnings) != tc.warnings {
				t.Errorf("%s: price %d, %d millicores, %d used, warnings %+v; want %+v", tc.reason, n.Price, n.Allocatable[model.CPU], s.Pools[0].Usage[model.CPU], warnings, tc)
			}
		})
	}
}

// TestUnclaimedInstance: an instance with neither claim nor node is spent for, in its
// NodePool, and nothing is planned onto it.
func TestUnclaimedInstance(t *testing.T) {
	leaked := provider.Instance{ProviderID: "aws:///za/i-9", InstanceType: "big", Zone: "za", CapacityType: model.OnDemand, NodePool: "general", Claim: "gone", LaunchTime: noon.Add(-time.Hour)}
	in := Inputs{
		Time: noon, NodePools: []*karpv1.NodePool{parse[karpv1.NodePool](t, poolYAML)}, Catalogs: map[string]model.Catalog{"default": testCatalog()},
		Cloud: cloudOf{unclaimed: []provider.Instance{leaked}},
	}
	s, warnings := Build(in)
	for _, scope := range spend.Scopes(&s) {
		if (scope.Name == spend.Cluster || scope.Name == "nodepool/general") && scope.Running != 800_000 {
			t.Errorf("scope %s runs for %d, want 800000", scope.Name, scope.Running)
		}
	}
	if len(s.Nodes) != 1 || s.Nodes[0].State != model.Deleting || len(warnings) != 0 {
		t.Errorf("nodes %+v, warnings %+v", s.Nodes, warnings)
	}
	in.Nodes = []*corev1.Node{parse[corev1.Node](t, `{metadata: {name: "n"}, spec: {providerID: "aws:///za/i-9"}}`)}
	if s, _ := Build(in); len(s.Nodes) != 1 {
		t.Errorf("%d nodes, want the instance counted once", len(s.Nodes))
	}
}
