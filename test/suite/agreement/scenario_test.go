package agreement

import (
	"fmt"
	"math/rand/v2"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// scenario is a random cluster: what may be launched, what runs, what waits.
type scenario struct {
	seed    uint64
	pools   []*karpv1.NodePool
	daemons []*appsv1.DaemonSet
	// nodes are there already, and run resident pods.
	nodes    []*corev1.Node
	resident []*corev1.Pod
	pending  []*corev1.Pod
	// What newScenario leaves out and attach adds: volumes that exist.
	claims  []*corev1.PersistentVolumeClaim
	volumes []*corev1.PersistentVolume
	csi     []*storagev1.CSINode
}

// The namespaces of all scenarios, and their priority class.
const (
	shop, bank = "shop", "bank"
	urgent     = "urgent"
)

type generator struct {
	*rand.Rand
	s *scenario
}

// newScenario makes the cluster of a seed, always the same.
func newScenario(seed uint64) *scenario {
	g := &generator{rand.New(rand.NewPCG(seed, 7)), &scenario{seed: seed}}
	for i := range 1 + g.IntN(3) {
		g.s.pools = append(g.s.pools, g.pool(i))
	}
	for i := range g.IntN(3) {
		g.s.daemons = append(g.s.daemons, g.daemon(i))
	}
	for i := range 3 + g.IntN(6) {
		g.group(i)
	}
	for i := range g.IntN(4) {
		g.s.nodes = append(g.s.nodes, g.node(i))
	}
	return g.s
}

func pick[T any](g *generator, xs ...T) T { return xs[g.IntN(len(xs))] }

func (g *generator) chance(p float64) bool { return g.Float64() < p }

func zone(g *generator) string { return pick(g, "us-west-2a", "us-west-2b", "us-west-2c") }

func requirement(key string, op corev1.NodeSelectorOperator, values ...string) karpv1.Requirement {
	return karpv1.Requirement{Key: key, Operator: op, Values: values}
}

func (g *generator) pool(i int) *karpv1.NodePool {
	p := &karpv1.NodePool{}
	p.Name, p.UID = fmt.Sprintf("pool-%d", i), "uid"
	t := &p.Spec.Template
	t.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"}
	families := pick(g, []string{"m6i", "c6i", "r6i"}, []string{"m6g", "c6g", "m6i", "g4dn"}, []string{"c6g", "r6g", "t3"})
	t.Spec.Requirements = []karpv1.Requirement{
		requirement("karpenter.k8s.aws/instance-family", corev1.NodeSelectorOpIn, families...),
		requirement("karpenter.k8s.aws/instance-cpu", corev1.NodeSelectorOpLt, pick(g, "9", "17", "65")),
		requirement(karpv1.LabelCapacityType, corev1.NodeSelectorOpIn, pick(g, []string{"on-demand"}, []string{"spot"}, []string{"spot", "on-demand"})...),
	}
	if g.chance(0.3) {
		t.Spec.Requirements = append(t.Spec.Requirements, requirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "us-west-2a", "us-west-2b"))
	}
	if g.chance(0.4) {
		t.Spec.Requirements = append(t.Spec.Requirements, requirement("example.com/team", corev1.NodeSelectorOpIn, pick(g, []string{"red"}, []string{"red", "blue"})...))
	}
	if g.chance(0.3) {
		t.Metadata.Labels = map[string]string{"example.com/tier": pick(g, "gold", "iron")}
	}
	if i > 0 && g.chance(0.5) {
		t.Spec.Taints = []corev1.Taint{{Key: "example.com/dedicated", Value: "x", Effect: pick(g, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)}}
	}
	if g.chance(0.3) {
		p.Spec.Weight = new(int32(1 + g.IntN(3)))
	}
	return p
}

func amounts(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func (g *generator) daemon(i int) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{}
	d.Namespace, d.Name = "kube-system", fmt.Sprintf("agent-%d-%d", g.s.seed, i)
	labels := map[string]string{"daemon": d.Name}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	spec := &d.Spec.Template.Spec
	spec.TerminationGracePeriodSeconds = new(int64)
	spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/agent:1", Resources: corev1.ResourceRequirements{Requests: amounts("60m", "80Mi")}}}
	if g.chance(0.5) {
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	if g.chance(0.3) {
		spec.NodeSelector = map[string]string{corev1.LabelArchStable: "amd64"}
	}
	if i == 0 && g.chance(0.3) { // two would keep each other off
		spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
	}
	return d
}

// group adds the pods of a Deployment.
func (g *generator) group(i int) {
	app := fmt.Sprintf("app-%d", i)
	namespace := pick(g, shop, shop, bank)
	labels := map[string]string{"app": app, "tier": pick(g, "web", "db"), "rev": pick(g, "1", "2")}
	spec := g.podSpec(app)
	for n := range 1 + g.IntN(9) {
		p := &corev1.Pod{}
		p.Namespace, p.Name, p.Labels = namespace, fmt.Sprintf("%s-%d", app, n), labels
		p.Spec = *spec.DeepCopy()
		g.s.pending = append(g.s.pending, p)
	}
}

func (g *generator) podSpec(app string) *corev1.PodSpec {
	spec := &corev1.PodSpec{TerminationGracePeriodSeconds: new(int64)}
	requests := amounts(pick(g, "50m", "100m", "250m", "500m", "1", "1500m", "3"), pick(g, "64Mi", "256Mi", "500Mi", "1Gi", "3Gi", "6Gi"))
	spec.Containers = []corev1.Container{{Name: "main", Image: "example.com/app:1", Resources: corev1.ResourceRequirements{Requests: requests}}}
	g.containers(spec)
	g.where(spec)
	if g.chance(0.15) {
		spec.Containers[0].Ports = []corev1.ContainerPort{{
			ContainerPort: 80, HostPort: pick[int32](g, 80, 8080), HostIP: pick(g, "", "127.0.0.1"), Protocol: pick(g, corev1.ProtocolTCP, corev1.ProtocolUDP),
		}}
	}
	if g.chance(0.15) {
		spec.PriorityClassName = urgent
	}
	g.together(spec, app)
	return spec
}

// containers adds init containers and sidecars, overhead being the business of
// runtime classes.
func (g *generator) containers(spec *corev1.PodSpec) {
	if g.chance(0.15) {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{
			Name: "first", Image: "example.com/init:1", Resources: corev1.ResourceRequirements{Requests: amounts(pick(g, "100m", "2"), "128Mi")},
		})
	}
	if g.chance(0.15) {
		spec.InitContainers = append(spec.InitContainers, corev1.Container{
			Name: "beside", Image: "example.com/sidecar:1", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
			Resources: corev1.ResourceRequirements{Requests: amounts("50m", "64Mi")},
		})
	}
	if g.chance(0.04) {
		spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	}
	if g.chance(0.05) {
		spec.Containers[0].Resources.Requests[corev1.ResourceEphemeralStorage] = resource.MustParse("2Gi")
	}
}

// where adds what a pod asks of its node.
func (g *generator) where(spec *corev1.PodSpec) {
	switch g.IntN(8) {
	case 0:
		spec.NodeSelector = map[string]string{corev1.LabelArchStable: pick(g, "amd64", "arm64")}
	case 1:
		spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: zone(g)}
	case 2:
		spec.NodeSelector = map[string]string{"example.com/team": pick(g, "red", "blue")}
	case 3:
		spec.NodeSelector = map[string]string{karpv1.LabelCapacityType: pick(g, "spot", "on-demand")}
	}
	if g.chance(0.3) {
		required := &corev1.NodeSelector{}
		for range 1 + g.IntN(2) {
			required.NodeSelectorTerms = append(required.NodeSelectorTerms, g.term())
		}
		affinity(spec).NodeAffinity = &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}
	}
	if g.chance(0.15) {
		a := affinity(spec)
		if a.NodeAffinity == nil {
			a.NodeAffinity = &corev1.NodeAffinity{}
		}
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.PreferredSchedulingTerm{{Weight: int32(1 + g.IntN(100)), Preference: g.term()}}
	}
	if g.chance(0.4) {
		spec.Tolerations = []corev1.Toleration{pick(g,
			corev1.Toleration{Key: "example.com/dedicated", Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "example.com/dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: "example.com/dedicated", Value: "other"})}
	}
}

func affinity(spec *corev1.PodSpec) *corev1.Affinity {
	if spec.Affinity == nil {
		spec.Affinity = &corev1.Affinity{}
	}
	return spec.Affinity
}

func (g *generator) term() corev1.NodeSelectorTerm {
	expr := func(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
		return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
	}
	var out corev1.NodeSelectorTerm
	for range 1 + g.IntN(2) {
		out.MatchExpressions = append(out.MatchExpressions, pick(g,
			expr(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, "us-west-2a", zone(g)),
			expr(karpv1.LabelCapacityType, corev1.NodeSelectorOpNotIn, "spot"),
			expr("karpenter.k8s.aws/instance-cpu", corev1.NodeSelectorOpGt, "2"),
			expr("karpenter.k8s.aws/instance-cpu", corev1.NodeSelectorOpLt, "9"),
			expr("karpenter.k8s.aws/instance-gpu-name", corev1.NodeSelectorOpDoesNotExist),
			expr("example.com/tier", corev1.NodeSelectorOpExists),
			expr("example.com/tier", corev1.NodeSelectorOpNotIn, "gold"),
			expr("karpenter.k8s.aws/instance-family", corev1.NodeSelectorOpNotIn, "m6i", "m6g"),
			expr(karpv1.LabelNodePool, corev1.NodeSelectorOpIn, "pool-0", "pool-1")))
	}
	return out
}

// together adds what a pod asks of other pods.
func (g *generator) together(spec *corev1.PodSpec, app string) {
	if g.chance(0.35) {
		spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, g.spread(app))
		if g.chance(0.3) {
			spec.TopologySpreadConstraints = append(spec.TopologySpreadConstraints, g.spread(app))
			if spec.TopologySpreadConstraints[0].TopologyKey == spec.TopologySpreadConstraints[1].TopologyKey {
				spec.TopologySpreadConstraints = spec.TopologySpreadConstraints[:1]
			}
		}
	}
	if g.chance(0.25) {
		affinity(spec).PodAntiAffinity = &corev1.PodAntiAffinity{}
		a := spec.Affinity.PodAntiAffinity
		if g.chance(0.7) {
			a.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{g.podTerm(app)}
		} else {
			a.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: g.podTerm(app)}}
		}
	}
	if g.chance(0.2) {
		affinity(spec).PodAffinity = &corev1.PodAffinity{}
		a := spec.Affinity.PodAffinity
		if g.chance(0.7) {
			a.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{g.podTerm(app)}
		} else {
			a.PreferredDuringSchedulingIgnoredDuringExecution = []corev1.WeightedPodAffinityTerm{{Weight: 50, PodAffinityTerm: g.podTerm(app)}}
		}
	}
}

// selector mostly selects the app itself, sometimes others.
func (g *generator) selector(app string) *metav1.LabelSelector {
	switch g.IntN(6) {
	case 0:
		return &metav1.LabelSelector{MatchLabels: map[string]string{"tier": pick(g, "web", "db")}}
	case 1:
		return &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{app, "app-0", "app-1"}}}}
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
}

func (g *generator) spread(app string) corev1.TopologySpreadConstraint {
	c := corev1.TopologySpreadConstraint{
		MaxSkew: pick[int32](g, 1, 1, 2), LabelSelector: g.selector(app),
		TopologyKey:       pick(g, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname, karpv1.LabelCapacityType, "example.com/team"),
		WhenUnsatisfiable: pick(g, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.DoNotSchedule, corev1.ScheduleAnyway),
	}
	if c.WhenUnsatisfiable == corev1.DoNotSchedule && g.chance(0.2) {
		c.MinDomains = new(int32(2 + g.IntN(2)))
	}
	if g.chance(0.2) {
		c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
	}
	if g.chance(0.2) {
		c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
	}
	if g.chance(0.2) {
		c.MatchLabelKeys = []string{"rev"}
	}
	return c
}

func (g *generator) podTerm(app string) corev1.PodAffinityTerm {
	t := corev1.PodAffinityTerm{
		TopologyKey:   pick(g, corev1.LabelHostname, corev1.LabelHostname, corev1.LabelTopologyZone, karpv1.LabelCapacityType),
		LabelSelector: g.selector(app),
	}
	switch g.IntN(6) {
	case 0:
		t.Namespaces = []string{shop, bank}
	case 1:
		t.NamespaceSelector = &metav1.LabelSelector{}
	case 2:
		t.MatchLabelKeys = []string{"rev"}
	case 3:
		t.MismatchLabelKeys = []string{"rev"}
	}
	return t
}

// node is a node of nobody's, with a pod of one of the groups on it.
func (g *generator) node(i int) *corev1.Node {
	n := &corev1.Node{}
	n.Name = fmt.Sprintf("old-%d-%d", g.s.seed, i)
	n.Labels = map[string]string{
		corev1.LabelHostname: n.Name, corev1.LabelArchStable: pick(g, "amd64", "arm64"), corev1.LabelOSStable: "linux",
		corev1.LabelTopologyZone: zone(g), karpv1.LabelCapacityType: pick(g, "spot", "on-demand"),
	}
	if g.chance(0.2) {
		n.Spec.Taints = []corev1.Taint{{Key: "example.com/dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	}
	n.Status.Allocatable = amounts(pick(g, "1", "2", "4"), "4Gi")
	n.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("20")
	like := g.s.pending[g.IntN(len(g.s.pending))]
	p := &corev1.Pod{}
	p.Namespace, p.Name, p.Labels = like.Namespace, fmt.Sprintf("old-%d", i), like.Labels
	p.Spec = *like.Spec.DeepCopy()
	p.Spec.NodeName, p.Spec.InitContainers = n.Name, nil
	p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: amounts("100m", "64Mi")}
	p.Spec.Containers[0].Ports = nil
	g.s.resident = append(g.s.resident, p)
	return n
}

const ebs = "ebs.csi.aws.com"

// attach gives the pods of some groups volumes of EBS, each in a zone, and the
// nodes that are there a limit.
func (s *scenario) attach() {
	g := &generator{rand.New(rand.NewPCG(s.seed, 17)), s}
	each := map[string]int{}
	for _, p := range s.pending {
		app := p.Labels["app"]
		if _, known := each[app]; !known {
			each[app] = pick(g, 0, 0, 0, 1, 3, 9)
		}
		in := zone(g)
		for i := range each[app] {
			g.volume(p, fmt.Sprintf("%s-%s-%d", p.Namespace, p.Name, i), in)
		}
	}
	for _, n := range s.nodes {
		s.csi = append(s.csi, csiNode(n.Name, int32(2+g.IntN(4))))
	}
}

func (g *generator) volume(p *corev1.Pod, name, in string) {
	v := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: ebs, VolumeHandle: name}
	v.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{in}}},
	}}}}
	v.Labels = map[string]string{corev1.LabelTopologyZone: in} // what the plugin VolumeZone reads
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}}
	c.Spec.VolumeName = name
	g.s.volumes, g.s.claims = append(g.s.volumes, v), append(g.s.claims, c)
	p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{
		Name: name, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}},
	})
}

func csiNode(name string, count int32) *storagev1.CSINode {
	return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: ebs, NodeID: name, Allocatable: &storagev1.VolumeNodeResources{Count: new(count)}}},
	}}
}
