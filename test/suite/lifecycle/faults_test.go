package lifecycle

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
)

// faults is the API server with what may go wrong on the way to it: every first
// status that says Registered comes too late, and writes of pods whose names begin
// with "slow" or "deaf" are not answered.
type faults struct {
	client.Client
	// late are the claims whose status was refused once.
	late sync.Map
	// deaf lets writes of "deaf" pods end, which do not heed their deadline; deadline
	// is how long writes of "slow" pods were given.
	deaf     chan struct{}
	deadline atomic.Int64
	// early lets the first write that initializes node-early fail; stayed says
	// whether it was reserved in the second one.
	early   chan struct{}
	retried atomic.Bool
	stayed  atomic.Bool

	writes writes
}

// Patch does not answer for some pods.
func (f *faults) Patch(ctx context.Context, o client.Object, p client.Patch, opts ...client.PatchOption) error {
	if n, node := o.(*corev1.Node); node && n.Name == "node-early" && n.Labels[karpv1.LabelInitialized] == "true" {
		if f.retried.CompareAndSwap(false, true) {
			<-f.early
			return apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, n.Name, nil)
		}
		f.stayed.CompareAndSwap(false, slices.ContainsFunc(n.Spec.Taints, func(x corev1.Taint) bool { return x.Key == karpv1.TaintKeyReserved }))
	}
	if n, node := o.(*corev1.Node); node {
		f.writes.node(n)
	}
	if _, pod := o.(*corev1.Pod); pod {
		switch {
		case strings.HasPrefix(o.GetName(), "slow"):
			if at, ok := ctx.Deadline(); ok {
				f.deadline.Store(int64(time.Until(at)))
			}
			<-ctx.Done()
			return ctx.Err()
		case strings.HasPrefix(o.GetName(), "deaf"):
			<-f.deaf
			return context.DeadlineExceeded
		}
	}
	return f.Client.Patch(ctx, o, p, opts...)
}

// Status is how statuses are written.
func (f *faults) Status() client.SubResourceWriter { return &lateStatus{f.Client.Status(), f} }

type lateStatus struct {
	client.SubResourceWriter
	faults *faults
}

// Update refuses the first status of a claim that says Registered.
func (s *lateStatus) Update(ctx context.Context, o client.Object, opts ...client.SubResourceUpdateOption) error {
	c, ok := o.(*karpv1.NodeClaim)
	if !ok {
		return s.SubResourceWriter.Update(ctx, o, opts...)
	}
	s.faults.writes.claim(c)
	if condition.IsTrue(c.Status.Conditions, karpv1.ConditionRegistered) {
		if _, was := s.faults.late.LoadOrStore(c.UID, true); !was {
			return apierrors.NewConflict(schema.GroupResource{Group: karpv1.Group, Resource: "nodeclaims"}, c.Name, nil)
		}
	}
	return s.SubResourceWriter.Update(ctx, o, opts...)
}
