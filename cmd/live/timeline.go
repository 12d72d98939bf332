package main

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/burst"
)

// podTimes are when a pod was first seen in each state; zero for never.
type podTimes struct {
	node                             string
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

// follow watches pods and nodes until the context ends. What fails is sent to the channel,
// at most once for each of the two.
func follow(ctx context.Context, c client.WithWatch) (*timeline, <-chan error, error) {
	t := &timeline{pods: map[types.UID]*podTimes{}, ready: map[string]time.Time{}}
	failed := make(chan error, 2)
	for _, each := range []struct {
		list client.ObjectList
		see  func(watch.Event)
		in   []client.ListOption
	}{
		{&corev1.PodList{}, t.seePod, []client.ListOption{client.InNamespace(burst.Namespace)}},
		{&corev1.NodeList{}, t.seeNode, nil},
	} {
		w, err := c.Watch(ctx, each.list, each.in...)
		if err != nil {
			return nil, nil, fmt.Errorf("watch: %w", err)
		}
		go func() {
			defer w.Stop()
			for e := range w.ResultChan() {
				each.see(e)
			}
			if ctx.Err() == nil {
				failed <- fmt.Errorf("the watch of %T ended", each.list)
			}
		}()
	}
	return t, failed, nil
}

func (t *timeline) seePod(e watch.Event) {
	pod, ok := e.Object.(*corev1.Pod)
	if !ok {
		return
	}
	now := clock.RealClock{}.Now()
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.pods[pod.UID]
	if p == nil {
		p = &podTimes{created: now}
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
	first(&p.deleted, e.Type == watch.Deleted || !pod.DeletionTimestamp.IsZero())
	for _, c := range pod.Status.Conditions {
		p.disrupted = p.disrupted || c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	}
}

func (t *timeline) seeNode(e watch.Event) {
	node, ok := e.Object.(*corev1.Node)
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
