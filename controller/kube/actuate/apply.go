package actuate

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/places"
	"spokeshave.dev/controller/kube/reconcile/reservation"
)

// Actuator applies decisions to the cluster through the API server.
type Actuator struct {
	Client client.Client
	// Reporter sends the events about what is done.
	Reporter *Reporter
	// Places are what pods have taken of the places of announced ones; nil if nothing else
	// gives these.
	Places *places.Book
}

// Disrupt takes the disruption of each node one step further. A node that may be
// removed is tainted first. When the next decision, made after the taint was seen,
// confirms it, the claim is deleted; when it does not, the taint is removed. All state
// is in the cluster, so that a restart loses nothing. Like Launch it goes on past objects
// that the API server refuses to change.
func (a *Actuator) Disrupt(ctx context.Context, s *model.Snapshot, d *decide.Decision) (cluster.Change, error) {
	var done cluster.Change
	var through application
	a.Reporter.tellUnconsolidatable(ctx, s, d)
	going := startingNodes(d)
	var changes []change
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		n := &s.Nodes[each.Node]
		going[each.Node] = going[each.Node] || each.Go
		switch {
		case !each.Go:
		case hasDisruptedTaint(n):
			changes = append(changes, change{func() error { return a.delete(ctx, n, each) }, RefusedError{Kind: "NodeClaim", Name: n.Claim}, &done.Deleted})
		default:
			changes = append(changes, change{func() error { return a.taint(ctx, n.Name, karpv1.DisruptedTaint()) }, RefusedError{Kind: "Node", Name: n.Name}, &done.Tainted})
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.State == model.Initialized && n.Claim != "" && n.Command == nil && hasDisruptedTaint(n) && !going[int32(i)] {
			changes = append(changes, change{func() error { return a.release(ctx, n) }, RefusedError{Kind: "Node", Name: n.Name}, &done.Untainted})
		}
	}
	return done, through.end(through.all(changes))
}

// release removes the disruption taint of a node that stays. Karpenter's disruptions also
// have a condition on the claim; those that were under way when it ended have nobody who
// goes on with them.
func (a *Actuator) release(ctx context.Context, n *model.Node) error {
	if err := condition.ClearDisruption(ctx, a.Client, n.Claim); err != nil {
		return err
	}
	return a.taint(ctx, n.Name)
}

// isReserved reports whether a node keeps off the pods that were not planned on it.
func (a *Actuator) isReserved(ctx context.Context, n *model.Node) bool {
	node := &corev1.Node{}
	err := a.Client.Get(ctx, types.NamespacedName{Name: n.Name}, node)
	return err == nil && slices.ContainsFunc(node.Spec.Taints, reservation.IsTaint)
}

// startingNodes returns the nodes of commands that begin with this decision. A disruption
// taint that they have already is not removed.
func startingNodes(d *decide.Decision) map[int32]bool {
	out := map[int32]bool{}
	for i := range d.Commands {
		if d.Commands[i].Stage != decide.Start {
			continue
		}
		for _, n := range d.Commands[i].Nodes {
			out[n] = true
		}
	}
	return out
}

func hasDisruptedTaint(n *model.Node) bool {
	return slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Key == karpv1.TaintKeyDisrupted })
}

// taint replaces all of the node's taints that have the disruption key by the given
// ones.
func (a *Actuator) taint(ctx context.Context, name string, want ...corev1.Taint) error {
	node := &corev1.Node{}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
		return ignoreGone(fmt.Errorf("read node %s: %w", name, err))
	}
	node = node.DeepCopy()
	base := node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyDisrupted })
	node.Spec.Taints = append(node.Spec.Taints, want...)
	if err := a.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return ignoreGone(fmt.Errorf("taint node %s: %w", name, err))
	}
	return nil
}

func (a *Actuator) delete(ctx context.Context, n *model.Node, why *decide.Disruption) error {
	claim := &karpv1.NodeClaim{}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: n.Claim}, claim); err != nil {
		return ignoreGone(fmt.Errorf("read claim %s: %w", n.Claim, err))
	}
	reason := condition.Disruption{Reason: string(why.Method), Message: "the node is disrupted: " + string(why.Method)}
	if err := condition.WriteDisruption(ctx, a.Client, claim, reason); err != nil {
		return err
	}
	if err := a.Client.Delete(ctx, claim.DeepCopy(), client.Preconditions{UID: &claim.UID}); err != nil {
		return ignoreGone(fmt.Errorf("delete claim %s: %w", n.Claim, err))
	}
	logDeleted(ctx, n, why)
	a.Reporter.tellTerminating(ctx, n, claim, why)
	return nil
}

// ignoreGone turns a NotFound error into nil: an object that is gone needs no change.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Assign adds pods that the plan puts on a node in flight, or on one that is reserved, to
// the planned pods of its claim. Room is then kept for them there, the reservation lets them
// in, and the next decision does not plan them again. Pods that the plan puts on nodes that
// take any pod are left to the scheduler.
// Like Launch it goes on past claims that the API server refuses to change.
func (a *Actuator) Assign(ctx context.Context, s *model.Snapshot, d *decide.Decision) (cluster.Change, error) {
	var more []plannedMore
	for i := range d.Plan.Existing {
		each := &d.Plan.Existing[i]
		n := &s.Nodes[each.Node]
		if n.Claim == "" || n.State != model.InFlight && !a.isReserved(ctx, n) {
			continue
		}
		keys, announced := plannedPods(s, each.Pods)
		more = append(more, plannedMore{claim: n.Claim, pods: keys, announced: announced})
	}
	return a.planMore(ctx, more)
}
