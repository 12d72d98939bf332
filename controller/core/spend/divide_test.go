package spend

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

const hostname = "kubernetes.io/hostname"

// TestRestOfTheNode: what pods keep others from using is their namespaces' to pay.
func TestRestOfTheNode(t *testing.T) {
	const tiny = 4 // millicores, a thousandth of the node
	term := model.PodTerm{Key: hostname, Selector: model.PodSelector{Namespaces: []string{"shop"}}}
	for name, tc := range map[string]struct {
		reason  string
		spec    model.PodSpec // of shop's pods, which request tiny
		pod     model.Pod     // what else they have
		n       int           // how many there are, 1 if 0
		others  []model.Pod   // of a quarter of the node each
		pool    int32
		ignore  bool // preferences
		want    map[string]model.Price
		planned model.Price // the most that shop's first pod may pay for such a node
	}{
		"ordinary":            {reason: "who restricts nothing pays for what it requests", want: map[string]model.Price{"shop": 1_000, Idle: 999_000}, planned: 1_001},
		"anti-affinity":       {reason: "one on a node: the node is its own", spec: model.PodSpec{PodAntiAffinity: []model.PodTerm{term}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"spread":              {reason: "one on a node in another way", spec: model.PodSpec{Spread: []model.Spread{{Key: hostname, MaxSkew: 1}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"zones":               {reason: "zones are few, and nobody is kept off a node", spec: model.PodSpec{Spread: []model.Spread{{Key: "topology.kubernetes.io/zone", MaxSkew: 1}}}, want: map[string]model.Price{"shop": 1_000, Idle: 999_000}, planned: 1_001},
		"preferred":           {reason: "plans respect preferences, so that they open nodes too", spec: model.PodSpec{PreferredApart: []model.WeightedPodTerm{{Weight: 1, Term: term}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"preference ignored":  {reason: "unless they are ignored", spec: model.PodSpec{PreferredApart: []model.WeightedPodTerm{{Weight: 1, Term: term}}}, ignore: true, want: map[string]model.Price{"shop": 1_000, Idle: 999_000}, planned: 1_001},
		"soft spread":         {reason: "so do soft constraints over nodes", spec: model.PodSpec{Spread: []model.Spread{{Key: hostname, MaxSkew: 1, Soft: true}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"host port":           {reason: "no other pod with the port can come", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"instance type":       {reason: "it may need a node of its own", spec: model.PodSpec{NodeSelector: map[string]string{"node.kubernetes.io/instance-type": "p5.48xlarge"}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"size":                {reason: "in whatever words", spec: model.PodSpec{Affinity: []model.Term{{{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Gt, Values: []string{"100"}}}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"preferred size":      {reason: "preferences are respected", spec: model.PodSpec{Preferred: []model.WeightedTerm{{Weight: 1, Term: model.Term{{Key: "team", Operator: model.Exists}}}}}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"zone and arch":       {reason: "nodes of a zone and an architecture are everybody's", spec: model.PodSpec{NodeSelector: map[string]string{"kubernetes.io/arch": "arm64", "topology.kubernetes.io/zone": "a"}}, want: map[string]model.Price{"shop": 1_000, Idle: 999_000}, planned: 1_001},
		"volume":              {reason: "the place of a volume is not its wish", spec: model.PodSpec{Pinned: true, Affinity: []model.Term{{{Key: hostname, Operator: model.Exists}}}}, want: map[string]model.Price{"shop": 1_000, Idle: 999_000}, planned: 1_001},
		"do-not-disrupt":      {reason: "who keeps the node keeps it for itself", pod: model.Pod{DoNotDisrupt: true}, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"taint":               {reason: "only who tolerates it can come", pool: 1, want: map[string]model.Price{"shop": 1_000_000}, planned: 1_000_000},
		"daemon":              {reason: "pods of DaemonSets are nobody's", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, pod: model.Pod{Daemon: true}, want: map[string]model.Price{Daemon: 1_000, Idle: 999_000}},
		"others in the rest":  {reason: "what others use they pay", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, others: []model.Pod{{Namespace: "batch"}}, want: map[string]model.Price{"shop": 750_000, "batch": 250_000}, planned: 1_000_000},
		"two who restrict":    {reason: "they pay the rest in equal parts, however large they are", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, others: []model.Pod{{Namespace: "batch", DoNotDisrupt: true}}, want: map[string]model.Price{"shop": 375_500, "batch": 624_500}, planned: 1_000_000},
		"many tiny pods":      {reason: "the number of a namespace's pods changes nothing", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, n: 10, others: []model.Pod{{Namespace: "batch", DoNotDisrupt: true}}, want: map[string]model.Price{"shop": 380_000, "batch": 620_000}, planned: 100_001},
		"pod slots":           {reason: "without slots the rest is of no use: forty of forty", n: 40, want: map[string]model.Price{"shop": 1_000_000}, planned: 25_001},
		"crowded all the way": {reason: "nothing is left to pay for", spec: model.PodSpec{HostPorts: []model.HostPort{{Port: 80}}}, others: []model.Pod{{Namespace: "a"}, {Namespace: "a"}, {Namespace: "a"}, {Namespace: "a"}}, want: map[string]model.Price{"shop": 999, "a": 999_001}, planned: 1_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			size := model.Resources{model.CPU: 4_000, model.Memory: 8_000}
			if name == "pod slots" {
				size[model.PodSlots] = 40
			}
			tc.spec.Requests = model.Resources{model.CPU: tiny, model.PodSlots: 1}
			s := &model.Snapshot{
				Time: start, Settings: model.Settings{IgnorePreferences: tc.ignore},
				Pools: []model.Pool{{Name: "general"}, {Name: "theirs", Taints: []model.Taint{{Key: "team", Effect: model.NoSchedule}}}},
				Nodes: []model.Node{{Claim: "n", Pool: tc.pool, Price: 1_000_000, Allocatable: size}},
				Specs: []model.PodSpec{tc.spec, {Requests: model.Resources{model.CPU: 1_000}}},
			}
			for range max(1, tc.n) {
				tc.pod.Namespace = "shop"
				s.Pods = append(s.Pods, tc.pod)
			}
			for _, p := range tc.others {
				p.Spec = 1
				s.Pods = append(s.Pods, p)
			}
			got := map[string]model.Price{}
			for _, share := range Shares(s)[0] {
				got[cmp.Or(share.Namespace, share.Kind)] += share.Price
			}
			if diff := gocmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if most := PodShares(s, tc.pool, 1_000_000, size, everyPod(s))[0]; tc.planned > 0 && most != tc.planned {
				t.Errorf("%s: planned at %d, want %d", tc.reason, most, tc.planned)
			}
		})
	}
}

// crowd is a node with random pods, some of which restrict others.
func crowd(r *rand.Rand) *model.Snapshot {
	s := &model.Snapshot{
		Time:  start,
		Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{{Claim: "n", Pool: 0, Price: model.Price(1 + r.IntN(3_000_000)), Allocatable: model.Resources{model.CPU: 4_000, model.Memory: 10_000, model.PodSlots: 30}}},
	}
	for range 1 + r.IntN(12) {
		add(s, []string{"shop", "batch", "web"}[r.IntN(3)], r)
	}
	return s
}

// add adds a random pod of a namespace to the node.
func add(s *model.Snapshot, namespace string, r *rand.Rand) {
	spec := model.PodSpec{Requests: model.Resources{model.CPU: r.Int64N(700), model.Memory: r.Int64N(1_500), model.PodSlots: 1}}
	if r.IntN(4) == 0 {
		spec.HostPorts = []model.HostPort{{Port: 80}}
	}
	s.Specs = append(s.Specs, spec)
	s.Pods = append(s.Pods, model.Pod{
		Namespace: namespace, Name: fmt.Sprint(len(s.Pods)), Spec: int32(len(s.Specs) - 1), Node: 0,
		DoNotDisrupt: r.IntN(6) == 0, Daemon: r.IntN(10) == 0,
	})
}

// TestDivisionIsFair: whatever is on a node, the shares add up to its price, idle is
// only what others can use, nobody pays less with more pods, and no accomplice makes
// anybody pay less than both save.
func TestDivisionIsFair(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(4_000) {
		r := rand.New(rand.NewPCG(seed, 3))
		s := crowd(r)
		before := bill(t, s)
		free := int64(whole)
		for name, have := range s.Nodes[0].Allocatable {
			used := int64(0)
			for i := range s.Pods {
				used += s.Specs[s.Pods[i].Spec].Requests[name]
			}
			free = min(free, whole-used*whole/have)
		}
		d := divide(s, spaceOf(s, &s.Nodes[0]), everyPod(s))
		if d.idle > max(0, free)+int64(len(s.Pods))+1 {
			t.Fatalf("seed %d: %d millionths are idle, of some resource only %d are free", seed, d.idle, free)
		}
		if d.idle > 0 {
			seen["idle"]++
		}
		for _, came := range []string{"shop", "friend"} {
			more := *s
			more.Pods, more.Specs = slices.Clone(s.Pods), slices.Clone(s.Specs)
			add(&more, came, r)
			more.Pods[len(more.Pods)-1].Daemon = false
			after := bill(t, &more)
			if slack := model.Price(len(more.Pods)) + 4*s.Nodes[0].Price/whole; after["shop"]+after["friend"] < before["shop"]-slack {
				t.Fatalf("seed %d: with a pod more in %s the two pay %d after %d", seed, came, after["shop"]+after["friend"], before["shop"])
			}
			seen[came]++
		}
	}
	if seen["idle"] < 300 {
		t.Errorf("%v", seen)
	}
}

// everyPod lists the pods of a snapshot.
func everyPod(s *model.Snapshot) []int32 {
	out := make([]int32, len(s.Pods))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// bill is by namespace, or kind of overhead, what it pays of the node.
func bill(t *testing.T, s *model.Snapshot) map[string]model.Price {
	t.Helper()
	out, sum := map[string]model.Price{}, model.Price(0)
	for _, share := range Shares(s)[0] {
		if share.Kind == Workload {
			out[share.Namespace] += share.Price
		}
		sum += share.Price
	}
	if sum != s.Nodes[0].Price {
		t.Fatalf("the shares add up to %d of %d", sum, s.Nodes[0].Price)
	}
	return out
}
