// Package garbage deletes what should not exist: instances without a NodeClaim, and
// NodeClaims whose instance does not exist any more. It stops and asks before it ends many
// instances, or instances that an API server restored from a backup does not know
// (package breaker).
package garbage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/readiness"
)

// grace is how old an instance or a launch must be before it can be garbage:
// EC2 is eventually consistent, and so is the watch cache.
const grace = 30 * time.Second

// recordAfter is how long after a launch it is on record that a controller was there. The
// launches of that time share one write.
const recordAfter = time.Second

// OnLaunch returns what to call after each launch, and what a Collector waits for.
func OnLaunch() (launched func(), launches <-chan struct{}) {
	c := make(chan struct{}, 1)
	return func() {
		select {
		case c <- struct{}{}:
		default: // one is waiting already
		}
	}, c
}

// Collector looks for garbage periodically. It runs on the leader only.
type Collector struct {
	Client client.Client
	// Live reads from the API server: an instance that looks leaked is checked there
	// first.
	Live     client.Reader
	Provider provider.Provider
	Clock    clock.WithTicker
	// Every is how often a pass is made while instances come, go or fail, Rest how often
	// while nothing happens (see [settled]).
	Every, Rest time.Duration
	// Listed, when set, receives every list of the cluster's instances.
	Listed func([]provider.Instance)
	// Unclaimed, when set, receives the instances that no claim knows and that were not
	// ended: they are billed.
	Unclaimed func([]provider.Instance)
	// Breaker stops the end of many instances at once; nil never does.
	Breaker *breaker.Breaker
	// Launches, when set, says that an instance was launched ([OnLaunch]).
	Launches <-chan struct{}

	// ended are when instances were ended within the last hour.
	ended []time.Time
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *Collector) NeedLeaderElection() bool { return true }

// Start runs until the context ends.
func (c *Collector) Start(ctx context.Context) error {
	ticker := c.Clock.NewTicker(c.Every)
	defer ticker.Stop()
	p := pace{began: c.Clock.Now()}
	// The first launch finds the record of breakers read and written.
	c.turn(ctx, &p)
	c.record(ctx, c.Breaker.Sync)
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.Launches:
			if soon == nil {
				soon = c.Clock.After(recordAfter)
			}
		case <-soon:
			soon = nil
			c.record(ctx, func(ctx context.Context) error { return breaker.Launched(ctx, c.Breaker) })
		case <-ticker.C():
			c.turn(ctx, &p)
		}
	}
}

// turn makes a pass if one is due.
func (c *Collector) turn(ctx context.Context, p *pace) {
	rests, err := c.rests(ctx)
	now := c.Clock.Now()
	if rests && !breaker.Urgent(c.Breaker) && !p.due(now, c.Rest) {
		return
	}
	p.last = now
	if err := errors.Join(err, c.Collect(ctx)); err != nil {
		p.last = time.Time{} // the next pass is not put off
		logr.FromContextOrDiscard(ctx).Error(err, "garbage collection is put off")
	}
}

// record writes what breakers remember.
func (c *Collector) record(ctx context.Context, write func(context.Context) error) {
	if err := write(ctx); err != nil && ctx.Err() == nil {
		logr.FromContextOrDiscard(ctx).Error(err, "what breakers remember is not on record yet")
	}
}

// Collect makes one pass over all instances and claims.
func (c *Collector) Collect(ctx context.Context) error {
	instances, err := c.Provider.List(ctx)
	if err != nil {
		return fmt.Errorf("list instances: %w", err)
	}
	if c.Listed != nil {
		c.Listed(instances)
	}
	var claims karpv1.NodeClaimList
	if err := c.Client.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil { // nothing here changes them
		return fmt.Errorf("list claims: %w", err)
	}
	failure := c.instances(ctx, instances, claims.Items)
	running, tagged := map[string]bool{}, map[string]*provider.Instance{}
	for i := range instances {
		running[instances[i].ProviderID], tagged[instances[i].Claim] = true, &instances[i]
	}
	for i := range claims.Items {
		if claim := &claims.Items[i]; managed.Claim(claim) && !running[claim.Status.ProviderID] {
			if in := tagged[claim.Name]; in != nil && c.serves(ctx, in) {
				continue // its status is wrong; package lower says so
			}
			if err := c.orphaned(ctx, claim); err != nil {
				return errors.Join(failure, err)
			}
		}
	}
	return failure
}

// orphaned deletes a launched claim whose instance certainly does not exist any more.
func (c *Collector) orphaned(ctx context.Context, claim *karpv1.NodeClaim) error {
	if claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() ||
		!condition.IsTrue(claim.Status.Conditions, karpv1.ConditionLaunched) ||
		c.Clock.Since(claim.CreationTimestamp.Time) < grace {
		return nil
	}
	if ready, err := c.ready(ctx, claim); err != nil || ready {
		return err // a kubelet that reports is better evidence than a list of instances
	}
	_, err := c.Provider.Get(ctx, claim.Status.ProviderID)
	if err == nil || provider.KindOf(err) != provider.NotFound {
		return nil // still there, or not known: next pass
	}
	logr.FromContextOrDiscard(ctx).Info("deleting a claim whose instance is gone", "claim", claim.Name, "instance", claim.Status.ProviderID)
	if err := c.Client.Delete(ctx, claim.DeepCopy()); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s: %w", claim.Name, err)
	}
	return nil
}

// ready reports whether the claim's node is ready.
func (c *Collector) ready(ctx context.Context, claim *karpv1.NodeClaim) (bool, error) {
	nodes, err := c.nodes(ctx, claim.Status.ProviderID)
	if err != nil {
		return false, fmt.Errorf("find node of %s: %w", claim.Name, err)
	}
	return slices.ContainsFunc(nodes, func(n corev1.Node) bool { return readiness.IsReady(&n) }), nil
}

// serves reports whether the instance is a node that has registered and is ready. A second
// instance of a claim never registers. An error counts as no.
func (c *Collector) serves(ctx context.Context, in *provider.Instance) bool {
	nodes, err := c.nodes(ctx, in.ProviderID)
	return err == nil && slices.ContainsFunc(nodes, func(n corev1.Node) bool {
		return readiness.IsReady(&n) && n.Labels[karpv1.LabelRegistered] == "true"
	})
}

// nodes returns the nodes with a provider ID.
func (c *Collector) nodes(ctx context.Context, providerID string) ([]corev1.Node, error) {
	var nodes corev1.NodeList
	err := c.Client.List(ctx, &nodes, client.MatchingFields{index.ProviderID: providerID})
	return nodes.Items, err
}
