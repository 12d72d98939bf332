package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"spokeshave.dev/test/kit/burst"
)

// podTimes are when a pod was first seen in each state; zero for never.
type podTimes struct {
	name, node                       string
	created, bound, running, deleted time.Time
	// disrupted says that it was evicted.
	disrupted bool
}

// timeline is when pods and nodes were first seen in each state.
type timeline struct {
	mu    sync.Mutex
	pods  map[types.UID]*podTimes
	ready map[string]time.Time // by node
}

// follow watches pods and nodes until the context ends. It returns when it has seen those
// that exist.
func follow(ctx context.Context, config *rest.Config) (*timeline, error) {
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it ends watches
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("watch: %w", err)
	}
	t := &timeline{pods: map[types.UID]*podTimes{}, ready: map[string]time.Time{}}
	pods := informers.NewSharedInformerFactoryWithOptions(clients, 0, informers.WithNamespace(burst.Namespace))
	nodes := informers.NewSharedInformerFactory(clients, 0)
	for _, each := range []struct {
		informer cache.SharedIndexInformer
		see      func(object any, gone bool)
	}{
		{pods.Core().V1().Pods().Informer(), t.seePod},
		{nodes.Core().V1().Nodes().Informer(), t.seeNode},
	} {
		_, err := each.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { each.see(o, false) },
			UpdateFunc: func(_, o any) { each.see(o, false) },
			DeleteFunc: func(o any) {
				if last, ok := o.(cache.DeletedFinalStateUnknown); ok {
					o = last.Obj
				}
				each.see(o, true)
			},
		})
		if err != nil {
			return nil, fmt.Errorf("watch: %w", err)
		}
	}
	for _, f := range []informers.SharedInformerFactory{pods, nodes} {
		f.StartWithContext(ctx)
		f.WaitForCacheSync(ctx.Done())
	}
	return t, nil
}

func (t *timeline) seePod(object any, gone bool) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	now := clock.RealClock{}.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pods[pod.UID]
	if p == nil {
		p = &podTimes{name: pod.Name, created: now}
		t.pods[pod.UID] = p
	}
	first := func(at *time.Time, is bool) {
		if is && at.IsZero() {
			*at = now
		}
	}
	p.node = pod.Spec.NodeName
	first(&p.bound, p.node != "")
	first(&p.running, pod.Status.Phase == corev1.PodRunning || pod.Status.Phase == corev1.PodSucceeded)
	first(&p.deleted, gone || !pod.DeletionTimestamp.IsZero())
	for _, c := range pod.Status.Conditions {
		p.disrupted = p.disrupted || c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}
}

func (t *timeline) seeNode(object any, _ bool) {
	node, ok := object.(*corev1.Node)
	if !ok {
		return
	}
	now := clock.RealClock{}.Now()
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			t.mu.Lock()
			if t.ready[node.Name].IsZero() {
				t.ready[node.Name] = now
			}
			t.mu.Unlock()
		}
	}
}

// waiting counts the pods that were created and neither run nor are deleted.
func (t *timeline) waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.pods {
		if p.running.IsZero() && p.deleted.IsZero() {
			n++
		}
	}
	return n
}

// since returns copies of the pods that were created after a time and of when nodes became
// ready.
func (t *timeline) since(start time.Time) ([]podTimes, map[string]time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var pods []podTimes
	for _, p := range t.pods {
		if p.created.After(start) {
			pods = append(pods, *p)
		}
	}
	return pods, maps.Clone(t.ready)
}

// evictions counts the pods that were evicted after a time.
func (t *timeline) evictions(start time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.pods {
		if p.disrupted && p.deleted.After(start) {
			n++
		}
	}
	return n
}
