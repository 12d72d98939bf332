package garbage

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// endedFor is how long an instance that was ended counts towards the limit.
const endedFor = time.Hour

// leak is an instance that no claim knows. unknown says that its claim does not exist; a
// claim that exists has another instance.
type leak struct {
	*provider.Instance

	unknown bool
}

// instances ends the instances that no claim knows, unless that is stopped.
func (c *Collector) instances(ctx context.Context, instances []provider.Instance, claims []karpv1.NodeClaim) error {
	for i := range instances {
		breaker.Listed(c.Breaker, instances[i].LaunchTime)
	}
	if err := c.Breaker.Sync(ctx); err != nil {
		return err
	}
	if breaker.Doubted(c.Breaker) || c.Breaker.Stopped(breaker.GarbageCollection, "") {
		// The watch cache may still have the claims that a restored API server has lost.
		var live karpv1.NodeClaimList
		if err := c.Live.List(ctx, &live); err != nil {
			return fmt.Errorf("list claims: %w", err)
		}
		claims = live.Items
	}
	leaks, billed, err := c.unclaimed(ctx, instances, claims)
	if err != nil {
		return err
	}
	defer func() {
		if c.Unclaimed != nil {
			c.Unclaimed(billed)
		}
	}()
	stopped, err := c.stopped(ctx, leaks, len(instances), len(billed))
	for i := range leaks {
		if err == nil && !stopped {
			err = c.end(ctx, leaks[i].Instance)
		}
		if err != nil || stopped {
			billed = append(billed, *leaks[i].Instance)
		}
	}
	return err
}

// unclaimed returns the instances that no claim knows: those that are old enough to be
// garbage, and those that are not and are only billed. One without the tag of its claim is of no
// claim when none of its NodePool waits for an instance.
func (c *Collector) unclaimed(ctx context.Context, instances []provider.Instance, claims []karpv1.NodeClaim) (leaks []leak, billed []provider.Instance, _ error) {
	// pools have claims, of which one of those in waiting has no instance yet.
	known, pools, waiting := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for i := range claims {
		pool, id := claims[i].Labels[karpv1.LabelNodePool], claims[i].Status.ProviderID
		known[id], pools[pool] = true, true
		waiting[pool] = waiting[pool] || id == ""
	}
	c.Breaker.Keep(pools)
	for i := range instances {
		in := &instances[i]
		fresh := c.Clock.Since(in.LaunchTime) <= grace
		if known[in.ProviderID] || fresh && in.Claim == "" && waiting[in.NodePool] {
			continue // tags come later than instances: it may be of the claim that waits, which counts
		}
		found, err := c.leaked(ctx, in)
		switch {
		case err != nil:
			return nil, nil, err
		case found == nil:
		case fresh:
			billed = append(billed, *in)
		default:
			leaks = append(leaks, *found)
		}
	}
	return leaks, billed, nil
}

// leaked returns what is wrong with an instance: nil when its claim exists and has its
// provider ID or none yet, or when the instance is the claim's node, whatever the status of
// the claim says.
func (c *Collector) leaked(ctx context.Context, in *provider.Instance) (*leak, error) {
	if in.Claim == "" {
		return &leak{Instance: in}, nil
	}
	var claim karpv1.NodeClaim
	err := c.Live.Get(ctx, types.NamespacedName{Name: in.Claim}, &claim)
	switch {
	case apierrors.IsNotFound(err):
		return &leak{Instance: in, unknown: true}, nil
	case err != nil:
		return nil, fmt.Errorf("look for claim %s: %w", in.Claim, err)
	case claim.Status.ProviderID == "" || claim.Status.ProviderID == in.ProviderID || c.serves(ctx, in):
		return nil, nil //nolint:nilnil // nothing is wrong with the instance
	}
	return &leak{Instance: in}, nil
}

// stopped reports whether none of the leaked instances may be ended now, of a number of
// instances in all. young are those that are too young to be ended: the API server's history is
// reviewed once there are none.
func (c *Collector) stopped(ctx context.Context, leaks []leak, all, young int) (bool, error) {
	b := c.Breaker
	if b == nil {
		return false, nil
	}
	c.ended = slices.DeleteFunc(c.ended, func(at time.Time) bool { return c.Clock.Since(at) > endedFor })
	forgotten, end := c.forgotten(leaks)
	why := ""
	switch {
	case len(leaks) == 0:
		b.Clear(breaker.GarbageCollection, "")
	case b.Allowed(breaker.GarbageCollection):
		c.ended = nil
		b.Reviewed()
		return false, nil
	default:
		why = c.doubt(leaks, all, forgotten, end)
	}
	if why == "" && !b.Stopped(breaker.GarbageCollection, "") {
		if young == 0 {
			b.Reviewed()
		}
		return false, nil
	}
	if err := b.Stop(ctx, breaker.GarbageCollection, "", why); err != nil {
		return true, err
	}
	b.Reviewed()
	return true, nil
}

// forgotten returns how many instances the API server has forgotten, and the end of what it knows. That there are any
// goes on record, also where their end is allowed.
func (c *Collector) forgotten(leaks []leak) (n int, end time.Time) {
	for i := range leaks {
		if at, late := c.Breaker.Forgotten(leaks[i].LaunchTime); late && leaks[i].unknown {
			n++
			end = at
		}
	}
	if n > 0 {
		breaker.Forgot(c.Breaker)
	}
	return n, end
}

// doubt says why instances should not be ended without asking, "" when they may be.
func (c *Collector) doubt(leaks []leak, all, forgotten int, end time.Time) string {
	limit := c.Breaker.Limit(all)
	switch {
	case forgotten > 0 && end.IsZero():
		return fmt.Sprintf("%d instances have no NodeClaim, and the API server has lost what this controller wrote: it may have been restored from a backup", forgotten)
	case forgotten > 0:
		return fmt.Sprintf("%d instances were launched after %s, which is the latest that the API server knows of: it may have been restored from a backup",
			forgotten, end.UTC().Format(time.RFC3339))
	case len(leaks)+len(c.ended) > limit:
		return fmt.Sprintf("%d of %d instances have no NodeClaim, and %d were ended within the hour; more than %d may not be ended", len(leaks), all, len(c.ended), limit)
	}
	return ""
}

// end terminates a leaked instance.
func (c *Collector) end(ctx context.Context, in *provider.Instance) error {
	logr.FromContextOrDiscard(ctx).Info("terminating an instance that no claim knows", "instance", in.ProviderID, "claim", in.Claim)
	if err := c.Provider.Terminate(ctx, in.ProviderID); err != nil && provider.KindOf(err) != provider.NotFound {
		return fmt.Errorf("terminate leaked instance %s: %w", in.ProviderID, err)
	}
	c.ended = append(c.ended, c.Clock.Now())
	return nil
}
