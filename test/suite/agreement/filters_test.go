package agreement

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/test/kit/embedded"
)

// question and rejection are what test/kit/controlplane/build/filters reads and
// writes.
type question struct {
	Nodes      []*corev1.Node                  `json:"nodes"`
	Pods       []*corev1.Pod                   `json:"pods"`
	Namespaces []*corev1.Namespace             `json:"namespaces"`
	Volumes    []*corev1.PersistentVolume      `json:"volumes"`
	Claims     []*corev1.PersistentVolumeClaim `json:"claims"`
	CSINodes   []*storagev1.CSINode            `json:"csiNodes"`
	Planned    map[string]string               `json:"planned"`
}

type rejection struct {
	Pod, Node, Reason string
}

// filters is the scheduler's own code, without a cluster around it.
type filters struct {
	in  io.Writer
	out *json.Decoder
}

// startFilters builds the program next to the control plane's and runs it.
func startFilters(t *testing.T) *filters {
	t.Helper()
	path := filepath.Join(t.TempDir(), "filters")
	// The same flags as for kube-scheduler, so that its packages are compiled once.
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=readonly", "-buildvcs=false", "-o", path, "./filters")
	build.Dir = filepath.Join("..", "..", "kit", "controlplane", "build")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("build the scheduler's filters: %v\n%s", err, out)
		}
		t.Skipf("no scheduler to test against: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Stderr = t.Output()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := in.Close(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return &filters{in, json.NewDecoder(bufio.NewReader(out))}
}

// ask returns the pods that are kept off their planned nodes in every order
// tried, and whether the plan depends on the order.
func (f *filters) ask(t *testing.T, q *question) (rejected []rejection, ordered bool) {
	t.Helper()
	if err := json.NewEncoder(f.in).Encode(q); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Rejected []rejection
		Orders   int
	}
	if err := f.out.Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer.Rejected, answer.Orders > 1
}

// TestFilters asks the scheduler's filter plugins about the plans of many more
// clusters than a control plane could play: there has to be an order in which
// they let every pod onto its planned node, and the pods of DaemonSets after
// them.
func TestFilters(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the scheduler's sources")
	}
	f, types := startFilters(t), embedded.Catalog(t)
	refuse(t, f)
	pods, nodes, ordered, unplaced := 0, 0, 0, map[string]int{}
	for seed := range uint64(scenarios(50)) {
		s := newScenario(seed)
		s.attach()
		for _, p := range slices.Concat(s.pending, s.resident) {
			admit(p)
		}
		namespaces := []*corev1.Namespace{named(shop), named(bank), named("kube-system")}
		p := solve(t, s, lower.Inputs{
			Catalogs: map[string]model.Catalog{"default": types}, DaemonSets: s.daemons, Namespaces: namespaces,
			Nodes: s.nodes, Pods: slices.Concat(s.resident, shuffled(seed, s.pending)),
			VolumeClaims: s.claims, Volumes: s.volumes, CSINodes: s.csi,
			PriorityClasses: []*schedulingv1.PriorityClass{{ObjectMeta: metav1.ObjectMeta{Name: urgent}, Value: 1000}},
		})
		q := &question{
			Nodes: slices.Concat(s.nodes, p.nodes), Pods: slices.Concat(s.resident, shuffled(seed, s.pending)), Namespaces: namespaces,
			Volumes: s.volumes, Claims: s.claims, CSINodes: slices.Concat(s.csi, granted(p.nodes)), Planned: p.at,
		}
		rejected, inOrder := f.ask(t, q)
		for _, r := range rejected {
			t.Errorf("seed %d: %s planned on %s: %s", seed, r.Pod, r.Node, r.Reason)
		}
		if inOrder {
			ordered++
		}
		rejected, _ = f.ask(t, beside(s, p, q))
		for _, r := range rejected {
			if strings.HasPrefix(r.Reason, "NodeResourcesFit") || strings.HasPrefix(r.Reason, "NodePorts") {
				t.Errorf("seed %d: DaemonSet pod %s on %s: %s", seed, r.Pod, r.Node, r.Reason)
			}
		}
		pods, nodes = pods+len(p.at), nodes+len(p.nodes)
		for i := range p.decision.Plan.Unplaced {
			unplaced[string(p.decision.Plan.Unplaced[i].Reasons[0].Code)]++
		}
	}
	t.Logf("%d pods planned, %d new nodes, %d plans depend on the order; unplaced: %v", pods, nodes, ordered, unplaced)
	if pods == 0 || nodes == 0 {
		t.Error("nothing was planned")
	}
}

// refuse makes sure that the program can say no.
func refuse(t *testing.T, f *filters) {
	t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{corev1.LabelHostname: "n"}}}
	node.Status.Allocatable = amounts("1", "1Gi")
	node.Status.Allocatable[corev1.ResourcePods] = resource.MustParse("10")
	pod := func(name, cpu string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: shop, Name: name}}
		p.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: amounts(cpu, "1Mi")}}}
		return p
	}
	rejected, _ := f.ask(t, &question{
		Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{pod("a", "600m"), pod("b", "600m")}, Planned: map[string]string{"shop/a": "n", "shop/b": "n"},
	})
	if len(rejected) != 1 || rejected[0].Reason != "NodeResourcesFit: Insufficient cpu" {
		t.Errorf("two pods of 0.6 CPU on a node of 1: rejected %v", rejected)
	}
}

// granted are the CSINodes of new nodes: what was planned with.
func granted(nodes []*corev1.Node) []*storagev1.CSINode {
	var out []*storagev1.CSINode
	for _, n := range nodes {
		if q, ok := n.Status.Allocatable[model.VolumesPrefix+ebs]; ok {
			out = append(out, csiNode(n.Name, int32(q.Value())))
		}
	}
	return out
}

// beside asks about the pods of DaemonSets once the plan has come true.
func beside(s *scenario, p *plan, before *question) *question {
	all := *before
	q := &all
	q.Pods, q.Planned = nil, map[string]string{}
	for _, pod := range before.Pods {
		if pod.Spec.NodeName != "" || p.at[pod.Namespace+"/"+pod.Name] != "" {
			pod = pod.DeepCopy()
			if at := p.at[pod.Namespace+"/"+pod.Name]; at != "" {
				pod.Spec.NodeName = at
			}
			q.Pods = append(q.Pods, pod)
		}
	}
	for _, d := range s.daemons {
		for _, n := range p.nodes {
			pod := daemonPod(d, n.Name)
			q.Pods = append(q.Pods, pod)
			q.Planned[pod.Namespace+"/"+pod.Name] = n.Name
		}
	}
	return q
}

func daemonPod(d *appsv1.DaemonSet, node string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: *d.Spec.Template.ObjectMeta.DeepCopy(), Spec: *d.Spec.Template.Spec.DeepCopy()}
	p.Namespace, p.Name = d.Namespace, fmt.Sprintf("%s-on-%s", d.Name, node)
	return p
}

func named(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
}

// admit does to a pod what the API server would: the filters take pods as they
// come out of it.
func admit(p *corev1.Pod) {
	for i := range p.Spec.Containers {
		r := &p.Spec.Containers[i].Resources
		for name, q := range r.Limits {
			if _, own := r.Requests[name]; !own {
				r.Requests[name] = q
			}
		}
	}
	if p.Spec.PriorityClassName == urgent {
		p.Spec.Priority = new(int32(1000))
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		c.LabelSelector = merged(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAffinity != nil {
		for i := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			mergeKeys(&a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i], p.Labels)
		}
	}
	if a.PodAntiAffinity != nil {
		for i := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			mergeKeys(&a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[i], p.Labels)
		}
	}
}

func mergeKeys(t *corev1.PodAffinityTerm, labels map[string]string) {
	t.LabelSelector = merged(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, labels)
	t.LabelSelector = merged(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, labels)
}

func merged(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, labels map[string]string) *metav1.LabelSelector {
	s = s.DeepCopy()
	for _, key := range keys {
		s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{labels[key]}})
	}
	return s
}
