package backtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Source says where a workload is read from.
type Source struct {
	// Trace is a file: CSV or JSON lines, plain or in gzip.
	Trace string
	// Cluster holds the NodePools, EC2NodeClasses, DaemonSets and other objects of the
	// cluster. The pods of its Deployments exist from the beginning.
	Cluster *scenario.Objects
	Options scenario.Options
	// For is how long the workload runs. 0 means until one hour after the last pod has
	// arrived, and until all pods with an end have ended.
	For time.Duration
}

// sample is the namespace of the pods that are lowered once for equal rows. No trace
// uses it.
const sample = "spokeshave-backtest-sample"

// Load reads a trace and lowers its pods in the same way as those of a cluster.
func Load(src *Source) (*Workload, error) {
	raw, err := scenario.ReadFile(src.Trace)
	if err != nil {
		return nil, err
	}
	rows, err := parse(src.Trace, raw)
	if err != nil {
		return nil, err
	}
	start := begin(rows, src.Options.Time)
	src.Options.Time = start
	names := map[string]string{} // name of the row's pod, by the row's key
	for i := range rows {
		key, err := rows[i].key()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", src.Trace, err)
		}
		if names[key] == "" {
			names[key] = fmt.Sprintf("%s-%07d", sample, len(names))
			src.Cluster.Pods = append(src.Cluster.Pods, rows[i].pod(names[key]))
		}
	}
	s, err := src.Cluster.Snapshot(src.Options)
	if err != nil {
		return nil, err
	}
	if len(s.Pools) == 0 {
		return nil, errors.New("no NodePool among the manifests: name a file or folder with -f")
	}
	w := &Workload{Start: start, Allow: allowance(src.Cluster.NodePools, s.Pools), Budgets: budgetsOf(src.Cluster.Budgets, s.Budgets)}
	specs := map[string]int32{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if len(p.Name) > len(sample) && p.Name[:len(sample)] == sample {
			specs[p.Name] = p.Spec
		} else if p.Node < 0 && !p.Daemon {
			w.Pods = append(w.Pods, Pod{Namespace: p.Namespace, Name: p.Name, Workload: p.Workload, Spec: p.Spec, Arrival: start, DoNotDisrupt: p.DoNotDisrupt})
		}
	}
	for i := range rows {
		key, err := rows[i].key()
		if err != nil {
			return nil, err
		}
		spec, ok := specs[names[key]]
		if !ok {
			return nil, fmt.Errorf("%s:%d: the pod cannot be scheduled by anybody", src.Trace, rows[i].line)
		}
		w.rows(&rows[i], spec)
	}
	s.Nodes, s.Pods, s.Spent, s.Departed, s.Budgets = nil, nil, nil, nil, nil
	w.Base = s
	w.finish(src.For)
	return w, nil
}

// begin returns the start of the trace: the hour of its first absolute time, or the
// given time when it has only relative ones.
func begin(rows []entry, otherwise time.Time) time.Time {
	var first time.Time
	for i := range rows {
		if t := rows[i].arrival.time; !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	if first.IsZero() {
		return otherwise.UTC()
	}
	return first.Truncate(time.Hour)
}

// rows adds the pods of a row.
func (w *Workload) rows(e *entry, spec int32) {
	when := e.arrival.time
	if when.IsZero() {
		when = w.Start.Add(e.arrival.offset)
	}
	workload := cmp.Or(e.Workload, "trace")
	for i := range e.Count {
		w.Pods = append(w.Pods, Pod{
			Namespace: cmp.Or(e.Namespace, corev1.NamespaceDefault), Name: fmt.Sprintf("%s-%d-%d", workload, e.line, i),
			Workload: "Deployment/" + workload, Spec: spec, Arrival: when, Lifetime: e.lifetime, Job: e.Job, DoNotDisrupt: e.DoNotDisrupt,
		})
	}
}

// finish sorts the pods by arrival and sets the end.
func (w *Workload) finish(length time.Duration) {
	slices.SortStableFunc(w.Pods, func(a, b Pod) int { return a.Arrival.Compare(b.Arrival) })
	w.End = w.Start.Add(length)
	if length > 0 {
		return
	}
	for i := range w.Pods {
		w.End = later(w.End, w.Pods[i].Arrival.Add(w.Pods[i].Lifetime+time.Hour))
	}
}

// allowance returns a function that evaluates the disruption budgets of a pool.
func allowance(sources []*karpv1.NodePool, pools []model.Pool) func(int, time.Time, int, int) (int, int, int) {
	byName := map[string]*karpv1.NodePool{}
	for _, np := range sources {
		byName[np.Name] = np
	}
	return func(pool int, now time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
		np := byName[pools[pool].Name]
		if np == nil {
			return tenth(pool, now, nodes, leaving)
		}
		return lower.AllowedDisruptions(np, now, nodes, leaving)
	}
}

// pod returns a Kubernetes pod with the row's properties.
func (e *entry) pod(name string) *corev1.Pod {
	yes := true
	workload := cmp.Or(e.Workload, "trace")
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cmp.Or(e.Namespace, corev1.NamespaceDefault), Name: name, Labels: map[string]string{"app": workload},
		OwnerReferences: []metav1.OwnerReference{{Kind: "ReplicaSet", Name: sample, Controller: &yes}},
	}}
	maps.Copy(p.Labels, e.Labels)
	if e.Spec != nil {
		p.Spec = *e.Spec.DeepCopy()
	}
	if len(p.Spec.Containers) == 0 {
		p.Spec.Containers = []corev1.Container{{Name: "main"}}
	}
	requests := corev1.ResourceList{}
	for name, amount := range map[corev1.ResourceName]string{corev1.ResourceCPU: e.CPU, corev1.ResourceMemory: e.Memory, "nvidia.com/gpu": e.GPU} {
		if amount != "" {
			requests[name] = resource.MustParse(amount)
		}
	}
	if c := &p.Spec.Containers[0]; len(requests) > 0 {
		c.Resources.Requests = requests
	}
	if e.Priority != nil {
		p.Spec.Priority = e.Priority
	}
	for key, value := range map[string]string{
		corev1.LabelTopologyZone: e.Zone, karpv1.LabelCapacityType: e.CapacityType, corev1.LabelArchStable: e.Arch,
	} {
		if value != "" {
			p.Spec.NodeSelector = with(p.Spec.NodeSelector, key, value)
		}
	}
	for key, value := range e.NodeSelector {
		p.Spec.NodeSelector = with(p.Spec.NodeSelector, key, value)
	}
	return p
}

func with(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}
