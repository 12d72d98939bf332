package actuate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
)

// Command takes every command one step further. Before anything else, a command is
// written on the claims of its nodes, with the names of its replacements. A controller
// that finds it there, also after a restart, continues it or takes it back, and
// launches nothing twice. A command of which the API server refuses a step is left where
// it is, and the others are taken further: the error joins a [RefusedError] for each.
func (a *Actuator) Command(ctx context.Context, s *model.Snapshot, pools map[string]*karpv1.NodePool, d *decide.Decision) (cluster.Change, error) {
	var done cluster.Change
	var through application
	launched := len(d.Plan.Nodes)
	for i := range d.Commands {
		c := &d.Commands[i]
		var err error
		switch c.Stage {
		case decide.Start:
			err = a.start(ctx, &execution{s: s, pools: pools, d: d, done: &done}, c, launched)
			launched += len(c.Replacements)
		case decide.Wait:
			a.Reporter.tellWaiting(ctx, s, c)
		case decide.Finish:
			err = a.finish(ctx, s, c, &done)
		case decide.Undo:
			err = a.undo(ctx, s, c, &done)
		}
		if err := through.done(err, refusalOf(s, c, err)); err != nil {
			return done, through.end(err)
		}
	}
	return done, through.end(nil)
}

// refusalOf describes the refusal of a command's step: that of a replacement, or else of
// its first node's claim.
func refusalOf(s *model.Snapshot, c *decide.Command, err error) RefusedError {
	if r := (*RefusedError)(nil); errors.As(err, &r) {
		return *r
	}
	return RefusedError{Kind: "NodeClaim", Name: s.Nodes[c.Nodes[0]].Claim}
}

// execution is a decision together with the objects it is applied to.
type execution struct {
	s     *model.Snapshot
	pools map[string]*karpv1.NodePool
	d     *decide.Decision
	done  *cluster.Change
}

// replacement returns the claim of the command's replacement k, which is number at among the
// decision's claims.
func (to *execution) replacement(c *decide.Command, k, at int) (*karpv1.NodeClaim, error) {
	n := &c.Replacements[k]
	pool := to.pools[to.s.Pools[n.Pool].Name]
	if pool == nil {
		return nil, fmt.Errorf("NodePool %s is gone", to.s.Pools[n.Pool].Name)
	}
	claim, err := claimOf(to.s, pool, n, to.d.ID, model.ClaimName(pool.Name, to.d.ID, at))
	if err == nil && to.s.ForMoved(c.Nodes) {
		claim.Annotations[karpv1.AnnotationForMovedPods] = "true"
	}
	return claim, err
}

// start marks and taints the command's nodes, and creates the replacement claims. from
// is the number of the first replacement among the decision's claims.
func (a *Actuator) start(ctx context.Context, to *execution, c *decide.Command, from int) error {
	mark := model.Command{ID: fmt.Sprintf("%s-%d", to.d.ID, c.Nodes[0]), Method: string(c.Method), Started: to.s.Time, Nodes: claimNames(to.s, c.Nodes), Removed: c.Removed, Billed: c.Billed}
	claims := make([]*karpv1.NodeClaim, 0, len(c.Replacements))
	groups := launchGroups(to.d.ID, from, c.Replacements)
	for k := range c.Replacements {
		claim, err := to.replacement(c, k, from+k)
		if err != nil {
			return fmt.Errorf("replace %v: %w", mark.Nodes, err)
		}
		claim.Annotations[karpv1.AnnotationLaunchGroup] = groups[k].String()
		claim.Annotations[karpv1.AnnotationReplaces] = strings.Join(mark.Nodes, ",")
		claims = append(claims, claim)
		mark.Replacements = append(mark.Replacements, claim.Name)
	}
	text, err := json.Marshal(mark)
	if err != nil {
		return fmt.Errorf("encode the disruption of %v: %w", mark.Nodes, err)
	}
	marked := map[string]string{karpv1.AnnotationDisruption: string(text)}
	if err := named(mark.Nodes, &to.done.Marked, func(i int) error { return a.annotate(ctx, mark.Nodes[i], marked) }); err != nil {
		return err
	}
	nodes := nodeNames(to.s, c.Nodes)
	if err := named(nodes, &to.done.Tainted, func(i int) error { return a.taint(ctx, nodes[i], karpv1.DisruptedTaint()) }); err != nil {
		return err
	}
	if err := to.create(ctx, a, mark.Nodes, claims); err != nil {
		return err
	}
	logStarted(ctx, to.s, c, &mark)
	a.Reporter.tellLaunching(to.s, c, claims)
	a.Reporter.tellCandidates(ctx, to.s, c)
	return nil
}

// create creates the claims that replace the nodes.
func (to *execution) create(ctx context.Context, a *Actuator, nodes []string, claims []*karpv1.NodeClaim) error {
	return inRounds(len(claims), func(i int) error { return a.create(ctx, claims[i]) }, func(i int, err error) error {
		claim := claims[i]
		if err == nil {
			to.done.Claims = append(to.done.Claims, claim.Name)
			return nil
		}
		if mayBeWritten(err) {
			to.done.Unsure = append(to.done.Unsure, claim.Name)
		}
		return &RefusedError{Kind: "NodeClaim", Name: claim.Name, Pool: claim.Labels[karpv1.LabelNodePool], Err: fmt.Errorf("replace %v: %w", nodes, err)}
	})
}

// finish deletes the nodes' claims.
func (a *Actuator) finish(ctx context.Context, s *model.Snapshot, c *decide.Command, done *cluster.Change) error {
	a.Reporter.tellApproved(ctx, s, c)
	return named(claimNames(s, c.Nodes), &done.Deleted, func(i int) error {
		return a.delete(ctx, &s.Nodes[c.Nodes[i]], &decide.Disruption{Node: c.Nodes[i], Method: c.Method})
	})
}

// undo removes taint and mark from the nodes, the mark last: while it is there, the
// command can be found and undone again. Replacements that were launched stay; a later
// decision removes them when they are not needed.
func (a *Actuator) undo(ctx context.Context, s *model.Snapshot, c *decide.Command, done *cluster.Change) error {
	tainted := slices.DeleteFunc(slices.Clone(c.Nodes), func(i int32) bool { return !hasDisruptedTaint(&s.Nodes[i]) })
	nodes := nodeNames(s, tainted)
	if err := named(nodes, &done.Untainted, func(i int) error { return a.taint(ctx, nodes[i]) }); err != nil {
		return err
	}
	claims := claimNames(s, c.Nodes)
	undone := map[string]string{karpv1.AnnotationDisruption: "", karpv1.AnnotationUndone: s.Time.Format(time.RFC3339)}
	if err := named(claims, &done.Unmarked, func(i int) error { return a.annotate(ctx, claims[i], undone) }); err != nil {
		return err
	}
	logUndone(ctx, s, c)
	a.Reporter.tellUndone(ctx, s, c)
	return nil
}

// nodeNames and claimNames are the names of nodes and of their claims.
func nodeNames(s *model.Snapshot, nodes []int32) []string {
	out := make([]string, 0, len(nodes))
	for _, i := range nodes {
		out = append(out, s.Nodes[i].Name)
	}
	return out
}

func claimNames(s *model.Snapshot, nodes []int32) []string {
	out := make([]string, 0, len(nodes))
	for _, i := range nodes {
		out = append(out, s.Nodes[i].Claim)
	}
	return out
}

// annotate sets annotations of a claim; an empty value removes one.
func (a *Actuator) annotate(ctx context.Context, name string, values map[string]string) error {
	claim := &karpv1.NodeClaim{}
	if err := a.Client.Get(ctx, types.NamespacedName{Name: name}, claim); err != nil {
		return ignoreGone(fmt.Errorf("read claim %s: %w", name, err))
	}
	claim = claim.DeepCopy()
	base := claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	for key, value := range values {
		if value == "" {
			delete(claim.Annotations, key)
		} else {
			claim.Annotations[key] = value
		}
	}
	if err := a.Client.Patch(ctx, claim, client.MergeFrom(base)); err != nil {
		return ignoreGone(fmt.Errorf("annotate claim %s: %w", name, err))
	}
	return nil
}
