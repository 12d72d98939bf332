package cluster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

// Change is what the application of a decision has written. The next decision waits
// until the watch cache shows all of it ([Cluster.WaitFor]).
type Change struct {
	// Claims are the names of the NodeClaims that were created, Deleted of those that were
	// deleted, Marked and Unmarked of those whose disruption command was written or taken
	// back. Tainted and Untainted are the names of nodes.
	Claims, Tainted, Untainted, Deleted, Marked, Unmarked []string
	// Unsure are the names of NodeClaims whose creation was not answered: they may exist.
	// Optioned are those of claims made by hand on which options were, or may have been, written.
	Unsure, Optioned []string
	// Planned is the new value of the annotation with the pods planned on a claim, by the
	// name of the claim.
	Planned map[string]string
}

// Add adds the changes of another application.
func (c *Change) Add(more *Change) {
	c.Claims = append(c.Claims, more.Claims...)
	c.Tainted = append(c.Tainted, more.Tainted...)
	c.Untainted = append(c.Untainted, more.Untainted...)
	c.Deleted = append(c.Deleted, more.Deleted...)
	c.Marked = append(c.Marked, more.Marked...)
	c.Unmarked = append(c.Unmarked, more.Unmarked...)
	c.Unsure = append(c.Unsure, more.Unsure...)
	c.Optioned = append(c.Optioned, more.Optioned...)
	if c.Planned == nil {
		c.Planned = more.Planned
		return
	}
	maps.Copy(c.Planned, more.Planned)
}

const (
	cachePoll = 10 * time.Millisecond
	// askInterval is how often the API server itself is asked for created claims that
	// the cache does not show: a claim whose launch is refused is deleted within
	// milliseconds, and its pods wait for the next decision.
	askInterval  = 500 * time.Millisecond
	cacheTimeout = 10 * time.Second
)

// WaitFor returns once the watch cache shows the change, so that no decision is made
// twice on the same state. What the API server itself does not show any more counts as
// seen: a claim that was created and deleted in between, a mark or a taint that another
// writer has changed, a claim whose creation was not answered and came to nothing. After cacheTimeout WaitFor returns an error, unless only taints and
// planned pods are missing.
func (c *Cluster) WaitFor(ctx context.Context, change Change) error {
	now := c.cfg.Clock.Now()
	ask, deadline := now.Add(askInterval), now.Add(cacheTimeout)
	for {
		missing := c.missing(change)
		if missing == "" {
			return nil
		}
		now = c.cfg.Clock.Now()
		if now.After(ask) {
			if err := c.dropOverwritten(ctx, &change); err != nil {
				return err
			}
			ask = now.Add(askInterval)
			continue
		}
		if now.After(deadline) {
			if len(change.Tainted)+len(change.Untainted)+len(change.Planned) == 0 {
				return fmt.Errorf("wait for the watch cache: %s is not visible after %s", missing, cacheTimeout)
			}
			// Another writer may have changed these since.
			change.Tainted, change.Untainted, change.Planned = nil, nil, nil
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the watch cache to show %s: %w", missing, context.Cause(ctx))
		case <-c.cfg.Clock.After(cachePoll):
		}
	}
}

// missing names the first part of the change that the cache does not show, "" when it
// shows all.
func (c *Cluster) missing(change Change) string {
	if claim := c.missingClaim(change); claim != "" {
		return claim
	}
	for i, name := range slices.Concat(change.Tainted, change.Untainted) {
		node, ok := get[*corev1.Node](c.stores.nodes, name)
		if ok && hasDisruptedTaint(node) != (i < len(change.Tainted)) {
			return "the taint of node " + name
		}
	}
	return ""
}

// missingClaim is missing for NodeClaims.
func (c *Cluster) missingClaim(change Change) string {
	for _, name := range slices.Concat(change.Claims, change.Unsure) {
		if _, ok := get[*karpv1.NodeClaim](c.stores.claims, name); !ok {
			return "NodeClaim " + name
		}
	}
	for _, name := range change.Deleted {
		if claim, ok := get[*karpv1.NodeClaim](c.stores.claims, name); ok && claim.DeletionTimestamp.IsZero() {
			return "the deletion of NodeClaim " + name
		}
	}
	for _, name := range change.Optioned {
		if claim, ok := get[*karpv1.NodeClaim](c.stores.claims, name); ok && !hasOptions(claim) {
			return "the options of NodeClaim " + name
		}
	}
	for i, name := range slices.Concat(change.Marked, change.Unmarked) {
		claim, ok := get[*karpv1.NodeClaim](c.stores.claims, name)
		if ok && (claim.Annotations[karpv1.AnnotationDisruption] != "") != (i < len(change.Marked)) {
			return "the mark of NodeClaim " + name
		}
	}
	for name, text := range change.Planned {
		claim, ok := get[*karpv1.NodeClaim](c.stores.claims, name)
		if ok && claim.Annotations[karpv1.AnnotationPlannedPods] != text {
			return "the pods planned onto NodeClaim " + name
		}
	}
	return ""
}

// hasOptions reports whether a claim has its options, or needs none any more: the cache leaves them out
// once it is launched.
func hasOptions(claim *karpv1.NodeClaim) bool { return !lower.IsUnplanned(claim) }

func hasDisruptedTaint(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyDisrupted })
}

// dropOverwritten removes from the change what the cache does not show and the API server
// does not show either: claims that are gone or were never created, marks, options and deletions of
// claims that another writer has undone.
func (c *Cluster) dropOverwritten(ctx context.Context, change *Change) error {
	marked := func(claim *karpv1.NodeClaim) bool { return claim.Annotations[karpv1.AnnotationDisruption] != "" }
	for _, each := range []struct {
		names *[]string
		shows func(*karpv1.NodeClaim) bool
	}{
		{&change.Claims, func(*karpv1.NodeClaim) bool { return true }},
		{&change.Unsure, func(*karpv1.NodeClaim) bool { return true }},
		{&change.Optioned, hasOptions},
		{&change.Deleted, func(claim *karpv1.NodeClaim) bool { return !claim.DeletionTimestamp.IsZero() }},
		{&change.Marked, marked},
		{&change.Unmarked, func(claim *karpv1.NodeClaim) bool { return !marked(claim) }},
	} {
		var still []string
		for _, name := range *each.names {
			claim := &karpv1.NodeClaim{}
			err := c.cfg.Live.Get(ctx, types.NamespacedName{Name: name}, claim)
			switch {
			case err == nil && each.shows(claim):
				still = append(still, name)
			case err != nil && !apierrors.IsNotFound(err):
				return fmt.Errorf("look for claim %s: %w", name, err)
			}
		}
		*each.names = still
	}
	return nil
}
