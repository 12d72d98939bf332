package actuate

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
)

// maxRefused is after how many refusals in a row no more claims of a NodePool are tried
// in one application, besides those that are tried at the same time.
const maxRefused = 3

// Launch creates the plan's NodeClaims. pools are by name. A claim that exists already
// counts as created. It goes on past claims that the API server refuses: the error joins
// a [RefusedError] for each. Claims of a NodePool that is gone are left out. Those whose creation
// has no clear answer are in the change's Unsure.
func (a *Actuator) Launch(ctx context.Context, s *model.Snapshot, pools map[string]*karpv1.NodePool, d *decide.Decision) (cluster.Change, error) {
	l := launch{
		actuator: a, snapshot: s, pools: pools, decision: d,
		groups: launchGroups(d.ID, 0, d.Plan.Nodes), inARow: map[int32]int{}, accepted: map[int32]bool{},
	}
	for l.next < len(d.Plan.Nodes) {
		if err := l.create(ctx, l.round()); err != nil {
			return l.done, l.through.end(err)
		}
	}
	return l.done, l.through.end(nil)
}

// launch is one call of [Actuator.Launch].
type launch struct {
	actuator *Actuator
	snapshot *model.Snapshot
	pools    map[string]*karpv1.NodePool
	decision *decide.Decision
	groups   []provider.Group

	next    int // the first node of the plan whose claim was not tried
	done    cluster.Change
	through application
	// inARow counts the last refusals of a NodePool; accepted says that one of its claims was
	// created.
	inARow   map[int32]int
	accepted map[int32]bool
}

// attempted is a claim to create, and the node of the plan that it is for.
type attempted struct {
	claim *karpv1.NodeClaim
	node  *model.PlannedNode
}

// round returns the next claims that may be created at the same time. Of a NodePool none of whose
// claims was accepted so far it tries no more than may be refused in a row.
func (l *launch) round() []attempted {
	var out []attempted
	of := map[int32]int{}
	for ; l.next < len(l.decision.Plan.Nodes) && len(out) < writtenAtOnce; l.next++ {
		n := &l.decision.Plan.Nodes[l.next]
		pool := l.pools[l.snapshot.Pools[n.Pool].Name]
		if pool == nil || l.inARow[n.Pool] >= maxRefused {
			continue
		}
		if !l.accepted[n.Pool] && l.inARow[n.Pool]+of[n.Pool] == maxRefused {
			break
		}
		claim, err := Claim(l.snapshot, pool, l.decision, l.next)
		if err != nil { // of this NodePool
			l.through.refusals = append(l.through.refusals, &RefusedError{Kind: "NodeClaim", Pool: pool.Name, Pods: uids(l.snapshot, n.Pods), Err: err})
			l.inARow[n.Pool] = maxRefused
			continue
		}
		claim.Annotations[karpv1.AnnotationLaunchGroup] = l.groups[l.next].String()
		out = append(out, attempted{claim: claim, node: n})
		of[n.Pool]++
	}
	return out
}

// create creates the claims of a round, and then goes through the answers in the order of the plan.
// The error is the first that is no refusal.
func (l *launch) create(ctx context.Context, round []attempted) error {
	return inRounds(len(round),
		func(i int) error { return l.actuator.create(ctx, round[i].claim) },
		func(i int, err error) error { return l.answer(&round[i], err) })
}

// answer notes what came of a claim. It returns an error that is no refusal.
func (l *launch) answer(t *attempted, err error) error {
	pool, refused := t.node.Pool, len(l.through.refusals)
	if mayBeWritten(err) {
		l.done.Unsure = append(l.done.Unsure, t.claim.Name)
	}
	err = l.through.done(err, RefusedError{
		Kind: "NodeClaim", Name: t.claim.Name, Pool: l.snapshot.Pools[pool].Name, Pods: uids(l.snapshot, t.node.Pods),
	})
	switch {
	case err != nil:
		return err
	case len(l.through.refusals) > refused:
		l.inARow[pool]++
	default:
		l.inARow[pool], l.accepted[pool] = 0, true
		l.done.Claims = append(l.done.Claims, t.claim.Name)
		l.actuator.Reporter.tellNominated(l.snapshot, t.claim, t.node)
	}
	return nil
}

func uids(s *model.Snapshot, pods []int32) []types.UID {
	out := make([]types.UID, 0, len(pods))
	for _, p := range pods {
		out = append(out, types.UID(s.Pods[p].UID))
	}
	return out
}

// create creates a claim. If an earlier application of the same decision created it, it
// reads the claim instead, because events about the claim need its UID.
func (a *Actuator) create(ctx context.Context, claim *karpv1.NodeClaim) error {
	err := a.Client.Create(ctx, claim)
	if apierrors.IsAlreadyExists(err) {
		if err := a.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read claim %s: %w", claim.Name, err)
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("create claim %s: %w", claim.Name, err)
	}
	return nil
}
