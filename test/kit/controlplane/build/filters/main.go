// Filters asks the filter plugins of kube-scheduler, in memory, whether a plan
// can come true. Each line of its input is a question in JSON; it answers each
// with a line.
//
// The planned pods are bound to their planned nodes one by one: a pod that has
// to wait for another one is tried again. Those that are never let onto their
// nodes are the answer. A plan may need a certain order (spread over two keys can
// get stuck in others), so that several are tried.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// question is a cluster and a plan. Pods that run name their nodes.
type question struct {
	Nodes      []*corev1.Node                  `json:"nodes"`
	Pods       []*corev1.Pod                   `json:"pods"`
	Namespaces []*corev1.Namespace             `json:"namespaces"`
	Volumes    []*corev1.PersistentVolume      `json:"volumes"`
	Claims     []*corev1.PersistentVolumeClaim `json:"claims"`
	Classes    []*storagev1.StorageClass       `json:"classes"`
	CSINodes   []*storagev1.CSINode            `json:"csiNodes"`
	// Planned are pods that wait, by namespace/name, and their nodes.
	Planned map[string]string `json:"planned"`
}

// answer lists the pods that the scheduler keeps off their planned nodes.
type answer struct {
	Rejected []rejection `json:"rejected"`
	// Orders is how many orders were tried.
	Orders int `json:"orders"`
}

// orders is how many orders are tried before a pod counts as rejected.
const orders = 30

type rejection struct {
	Pod    string `json:"pod"`
	Node   string `json:"node"`
	Reason string `json:"reason"`
}

func main() {
	if err := serve(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, in io.Reader, out io.Writer) error {
	metrics.Register()
	profile, err := filters()
	if err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read question: %w", err)
		}
		q := &question{}
		if err := json.Unmarshal(line, q); err != nil {
			return fmt.Errorf("read question: %w", err)
		}
		a, err := q.answer(ctx, profile)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(out).Encode(a); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
}

// filters is the default profile with its filters alone. Dynamic resources are
// left out, and volume binding, which needs a cluster that provisions.
func filters() (*config.KubeSchedulerProfile, error) {
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("read the scheduler's defaults: %w", err)
	}
	set := func(names ...string) config.PluginSet {
		var s config.PluginSet
		for _, name := range names {
			s.Enabled = append(s.Enabled, config.Plugin{Name: name})
		}
		return s
	}
	profile := defaults.Profiles[0]
	profile.Plugins = &config.Plugins{
		QueueSort: set(names.PrioritySort), Bind: set(names.DefaultBinder),
		PreFilter: set(names.NodeAffinity, names.NodePorts, names.NodeResourcesFit, names.NodeVolumeLimits, names.VolumeZone,
			names.PodTopologySpread, names.InterPodAffinity),
		Filter: set(names.NodeUnschedulable, names.NodeName, names.TaintToleration, names.NodeAffinity, names.NodePorts,
			names.NodeResourcesFit, names.NodeVolumeLimits, names.VolumeZone, names.PodTopologySpread, names.InterPodAffinity),
	}
	return &profile, nil
}

func (q *question) answer(ctx context.Context, profile *config.KubeSchedulerProfile) (*answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &cluster{ctx: ctx, profile: profile, nodes: q.Nodes}
	if err := w.lists(q); err != nil {
		return nil, err
	}
	var waiting, running []*corev1.Pod
	for _, p := range q.Pods {
		switch {
		case p.Spec.NodeName != "":
			running = append(running, p)
		case q.Planned[key(p)] != "":
			waiting = append(waiting, p)
		}
	}
	shuffle := rand.New(rand.NewPCG(1, 2))
	a := &answer{}
	for a.Orders = 1; ; a.Orders++ {
		var err error
		w.bound = slices.Clone(running)
		if a.Rejected, err = w.bind(waiting, q.Planned); err != nil || len(a.Rejected) == 0 || a.Orders == orders {
			return a, err
		}
		shuffle.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	}
}

// bind binds what can be bound and lists what is left.
func (w *cluster) bind(waiting []*corev1.Pod, planned map[string]string) ([]rejection, error) {
	for {
		var rest []*corev1.Pod
		var rejected []rejection
		for _, p := range waiting {
			node := planned[key(p)]
			why, err := w.try(p, node)
			if err != nil {
				return nil, err
			}
			if why == "" {
				p = p.DeepCopy()
				p.Spec.NodeName = node
				w.bound = append(w.bound, p)
				continue
			}
			rest = append(rest, p)
			rejected = append(rejected, rejection{key(p), node, why})
		}
		if len(rest) == len(waiting) || len(rest) == 0 {
			return rejected, nil
		}
		waiting = rest
	}
}

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }

// cluster is the cluster while the plan comes true.
type cluster struct {
	ctx     context.Context
	profile *config.KubeSchedulerProfile
	nodes   []*corev1.Node
	bound   []*corev1.Pod
	factory informers.SharedInformerFactory
	client  kubernetes.Interface
}

// lists fills the informers by hand. They never start: there is no server.
func (w *cluster) lists(q *question) error {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:0"})
	if err != nil {
		return err
	}
	w.client, w.factory = client, informers.NewSharedInformerFactory(client, 0)
	var all []error
	for _, o := range q.Namespaces {
		all = append(all, w.factory.Core().V1().Namespaces().Informer().GetIndexer().Add(o))
	}
	for _, o := range q.Volumes {
		all = append(all, w.factory.Core().V1().PersistentVolumes().Informer().GetIndexer().Add(o))
	}
	for _, o := range q.Claims {
		all = append(all, w.factory.Core().V1().PersistentVolumeClaims().Informer().GetIndexer().Add(o))
	}
	for _, o := range q.Classes {
		all = append(all, w.factory.Storage().V1().StorageClasses().Informer().GetIndexer().Add(o))
	}
	for _, o := range q.CSINodes {
		all = append(all, w.factory.Storage().V1().CSINodes().Informer().GetIndexer().Add(o))
	}
	return errors.Join(all...)
}

// try says why the filters keep the pod off the node, "" when they do not.
func (w *cluster) try(pod *corev1.Pod, node string) (string, error) {
	snapshot := cache.NewSnapshot(w.bound, w.nodes)
	f, err := runtime.NewFramework(w.ctx, plugins.NewInTreeRegistry(), w.profile,
		runtime.WithSnapshotSharedLister(snapshot), runtime.WithInformerFactory(w.factory), runtime.WithClientSet(w.client),
		runtime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(w.factory.Storage().V1().CSINodes().Lister())))
	if err != nil {
		return "", fmt.Errorf("make the scheduler's framework: %w", err)
	}
	info, err := snapshot.NodeInfos().Get(node)
	if err != nil {
		return "", fmt.Errorf("plan %s onto %s: %w", key(pod), node, err)
	}
	state := framework.NewCycleState()
	result, status, _ := f.RunPreFilterPlugins(w.ctx, state, pod)
	if status.IsSuccess() && !result.AllNodes() && !result.NodeNames.Has(node) {
		return "the node is not among those that the pod asks for", nil
	}
	if status.IsSuccess() {
		status = f.RunFilterPlugins(w.ctx, state, pod, info)
	}
	if status.IsSuccess() {
		return "", nil
	}
	if status.Code() == fwk.Error {
		return "", fmt.Errorf("filter %s on %s: %w", key(pod), node, status.AsError())
	}
	return status.Plugin() + ": " + strings.Join(status.Reasons(), ", "), nil
}
