package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/backtest"
	"spokeshave.dev/controller/rehearse/scenario"
)

// Day is a replay of the pods that the cluster still knows, from From to To, on nodes that
// Spokeshave launches and consolidates, beside what the nodes that are still there cost in
// that time. Both leave out what has gone, so that both are too low.
type Day struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Really is what the nodes that are still there cost in that time, in USD.
	Really float64 `json:"really"`
	// Here is what the replay costs, in USD, over Launches nodes.
	Here     float64 `json:"here"`
	Launches int     `json:"launches"`
	// Pods are those that were replayed, Ended those of them that have completed.
	Pods  int `json:"pods"`
	Ended int `json:"ended"`
	// GoneNodes and GonePods are those that events name and that do not exist any more.
	// Events are kept for an hour unless the API server is set otherwise.
	GoneNodes int `json:"goneNodes"`
	GonePods  int `json:"gonePods"`
	// Skipped says why nothing was replayed, empty when it was.
	Skipped string `json:"skipped,omitempty"`
}

// replay runs the pods of the last hours through a backtest. now is the present snapshot.
func replay(ctx context.Context, c *Cluster, now *model.Snapshot, cfg *CountConfig) (*Day, error) {
	to := cfg.Options.Time.UTC()
	out := &Day{From: to.Add(-cfg.Last), To: to}
	out.Really = spent(now, out.From, to)
	out.gone(c)
	lives := livesOf(c, now, out.From, to)
	out.Pods = len(lives)
	if len(lives) == 0 {
		out.Skipped = "no pod of a NodePool's node is known"
		return out, nil
	}
	if cfg.MostPods > 0 && len(lives) > cfg.MostPods {
		out.Skipped = fmt.Sprintf("%d pods would take long to replay: name the time with --last", len(lives))
		return out, nil
	}
	work, err := workload(c.Objects, lives, out, cfg)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	result, err := backtest.Run(ctx, backtest.Config{Workload: work})
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	out.Here, out.Launches = result.USD, result.Launches
	return out, nil
}

// spent returns what the counted nodes of a snapshot have cost in a time, in USD.
func spent(s *model.Snapshot, from, to time.Time) float64 {
	total := 0.0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !counts(n) || n.LaunchedAt.IsZero() {
			continue
		}
		begin := n.LaunchedAt
		if begin.Before(from) {
			begin = from
		}
		total += n.Cost().USD() * max(0, to.Sub(begin).Hours())
	}
	return total
}

// life is when a pod ran or waited. A zero end is one that goes on.
type life struct {
	pod        *corev1.Pod
	begin, end time.Time
}

// livesOf returns the pods that needed nodes of NodePools at some time: those on counted
// nodes, those that wait, and those that have ended, whatever their node was.
func livesOf(c *Cluster, now *model.Snapshot, from, to time.Time) []life {
	needs := map[string]bool{}
	for i := range now.Pods {
		p := &now.Pods[i]
		needs[p.Key()] = !p.Daemon && !p.Static() && (p.Node < 0 || counts(&now.Nodes[p.Node]))
	}
	elsewhere := map[string]bool{} // nodes of no NodePool
	for i := range now.Nodes {
		elsewhere[now.Nodes[i].Name] = !counts(&now.Nodes[i])
	}
	var out []life
	for _, p := range c.Objects.Pods {
		l := life{pod: p, begin: p.CreationTimestamp.Time}
		if p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			owner := metav1.GetControllerOf(p)
			l.end = ended(p)
			if owner == nil || owner.Kind == "DaemonSet" || owner.Kind == "Node" || elsewhere[p.Spec.NodeName] || l.end.Before(from) {
				continue
			}
		} else if !needs[p.Namespace+"/"+p.Name] {
			continue
		}
		if l.begin.Before(from) {
			l.begin = from
		}
		if l.begin.Before(to) {
			out = append(out, l)
		}
	}
	return out
}

// ended returns when the last container of a completed pod ended.
func ended(p *corev1.Pod) time.Time {
	out := p.CreationTimestamp.Time
	for i := range p.Status.ContainerStatuses {
		if t := p.Status.ContainerStatuses[i].State.Terminated; t != nil && t.FinishedAt.After(out) {
			out = t.FinishedAt.Time
		}
	}
	return out
}

// workload lowers the pods as if they were new.
func workload(o *scenario.Objects, lives []life, day *Day, cfg *CountConfig) (*backtest.Workload, error) {
	fresh := &scenario.Objects{
		NodePools: o.NodePools, NodeClasses: o.NodeClasses, DaemonSets: o.DaemonSets, Namespaces: o.Namespaces, LimitRanges: o.LimitRanges,
		RuntimeClasses: o.RuntimeClasses, PriorityClasses: o.PriorityClasses, VolumeClaims: o.VolumeClaims, Volumes: o.Volumes, StorageClasses: o.StorageClasses,
	}
	for i := range lives {
		p := lives[i].pod.DeepCopy()
		p.Spec.NodeName, p.Status, p.DeletionTimestamp = "", corev1.PodStatus{Phase: corev1.PodPending}, nil
		fresh.Pods = append(fresh.Pods, p)
	}
	opts := cfg.Options
	opts.Live, opts.Time = false, day.From
	if opts.Catalog == nil && opts.Region == "" {
		opts.Region = o.Region()
	}
	s, err := fresh.Snapshot(opts)
	if err != nil {
		return nil, err
	}
	pods := map[string]*model.Pod{}
	for i := range s.Pods {
		pods[s.Pods[i].Key()] = &s.Pods[i]
	}
	out := &backtest.Workload{Start: day.From, End: day.To, Allow: budgets(o.NodePools, s.Pools)}
	day.Pods = 0
	for i := range lives {
		l := &lives[i]
		p := pods[l.pod.Namespace+"/"+l.pod.Name]
		if p == nil {
			continue // no scheduler asks for a node for it
		}
		one := backtest.Pod{Namespace: p.Namespace, Name: p.Name, Workload: p.Workload, Spec: p.Spec, Arrival: l.begin, Job: p.Job, DoNotDisrupt: p.DoNotDisrupt}
		if !l.end.IsZero() {
			one.Lifetime = max(time.Second, l.end.Sub(l.begin))
			day.Ended++
		}
		day.Pods++
		out.Pods = append(out.Pods, one)
	}
	slices.SortStableFunc(out.Pods, func(a, b backtest.Pod) int {
		return cmp.Or(a.Arrival.Compare(b.Arrival), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	s.Nodes, s.Pods, s.Spent, s.Departed, s.Budgets = nil, nil, nil, nil, nil
	out.Base = s
	return out, nil
}

// budgets returns how many nodes of a pool may be disrupted at a time.
func budgets(all []*karpv1.NodePool, pools []model.Pool) func(int, time.Time, int, int) (int, int, int) {
	byName := map[string]*karpv1.NodePool{}
	for _, p := range all {
		byName[p.Name] = p
	}
	return func(pool int, at time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
		return lower.AllowedDisruptions(byName[pools[pool].Name], at, nodes, leaving)
	}
}

// gone counts what events name and what does not exist any more.
func (d *Day) gone(c *Cluster) {
	there := map[string]bool{}
	for _, claim := range c.Objects.NodeClaims {
		there["NodeClaim "+claim.Name] = true
	}
	for _, p := range c.Objects.Pods {
		there["Pod "+p.Namespace+"/"+p.Name] = true
	}
	for _, e := range c.Events {
		key := e.InvolvedObject.Kind + " " + e.InvolvedObject.Name
		if e.InvolvedObject.Kind == "Pod" {
			key = "Pod " + e.InvolvedObject.Namespace + "/" + e.InvolvedObject.Name
		}
		if there[key] {
			continue
		}
		there[key] = true
		switch e.InvolvedObject.Kind {
		case "NodeClaim":
			d.GoneNodes++
		case "Pod":
			d.GonePods++
		}
	}
}
