package actuate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/lower"
)

// plannedPods returns the keys (namespace/name) of those of the pods that exist, and counts
// the announced ones by owner. Placeholders of static pools are neither.
func plannedPods(s *model.Snapshot, pods []int32) (keys []string, announced map[string]int) {
	keys = make([]string, 0, len(pods))
	for _, i := range pods {
		switch p := &s.Pods[i]; {
		case p.Announced != "":
			if announced == nil {
				announced = map[string]int{}
			}
			announced[p.Announced]++
		case !s.Specs[p.Spec].HoldsPlace():
			keys = append(keys, p.Key())
		}
	}
	return keys, announced
}

// setAnnounced writes the annotation about announced pods; none is removed.
func setAnnounced(annotations map[string]string, announced map[string]int) error {
	if len(announced) == 0 {
		delete(annotations, karpv1.AnnotationAnnouncedPods)
		return nil
	}
	text, err := json.Marshal(announced)
	if err != nil {
		return fmt.Errorf("encode announced pods: %w", err)
	}
	annotations[karpv1.AnnotationAnnouncedPods] = string(text)
	return nil
}

// Settle writes on claims which pods have taken the places of announced ones, so that
// their nodes are reserved for them, and which announced pods will not come. A pod that was
// let onto the node of another claim since the snapshot has its place there. Like Launch,
// Settle goes on past claims that the API server refuses to change.
func (a *Actuator) Settle(ctx context.Context, changes cluster.AnnouncedChanges) (cluster.Change, error) {
	var more []plannedMore
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c := changes[name]
		m := plannedMore{claim: name, announced: make(map[string]int, len(c.Fewer))}
		for owner, n := range c.Fewer {
			m.announced[owner] = -n
		}
		for _, arrived := range c.Come {
			if a.takesPlace(ctx, arrived, name) {
				m.pods = append(m.pods, arrived.Pod)
				m.announced[arrived.Owner]--
			}
		}
		more = append(more, m)
	}
	return a.planMore(ctx, more)
}

// plannedMore are pods to add to those planned onto a claim, and by how many the announced
// ones change, by owner.
type plannedMore struct {
	claim     string
	pods      []string
	announced map[string]int
}

// planMore writes what changes of the pods planned onto claims, each of which is there once. It goes on
// past claims that the API server refuses to change, and those that are gone are left out.
func (a *Actuator) planMore(ctx context.Context, more []plannedMore) (cluster.Change, error) {
	done := cluster.Change{Planned: map[string]string{}}
	var through application
	texts := make([]string, len(more))
	err := inRounds(len(more), func(i int) (err error) {
		texts[i], err = a.changePlannedPods(ctx, more[i].claim, more[i].pods, more[i].announced)
		return err
	}, func(i int, err error) error {
		if texts[i] != "" {
			done.Planned[more[i].claim] = texts[i]
		}
		return through.done(err, RefusedError{Kind: "NodeClaim", Name: more[i].claim})
	})
	return done, through.end(err)
}

// takesPlace reports whether a pod has its place on a claim: unless it was let onto the node of
// another one, which still keeps a place for it.
func (a *Actuator) takesPlace(ctx context.Context, arrived cluster.Arrival, claim string) bool {
	if a.Places.Take(arrived.Pod, claim) {
		return true
	}
	other := &karpv1.NodeClaim{}
	err := a.Client.Get(ctx, types.NamespacedName{Name: a.Places.Of(arrived.Pod)}, other)
	if err == nil && other.DeletionTimestamp.IsZero() && lower.AnnouncedPods(other)[arrived.Owner] > 0 {
		return false
	}
	a.Places.Leave(arrived.Pod)
	return a.Places.Take(arrived.Pod, claim)
}

// changePlannedPods adds pods to those planned onto a claim, and changes how many announced
// ones are, by owner. It returns the new value of the annotation with the pods, or "" when
// the claim is gone. The cached claim may be older than the last addition: the API server
// then refuses the patch, and it is tried again.
func (a *Actuator) changePlannedPods(ctx context.Context, name string, pods []string, announced map[string]int) (string, error) {
	var text string
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		cached := &karpv1.NodeClaim{}
		if err := a.Client.Get(ctx, types.NamespacedName{Name: name}, cached); err != nil {
			return err
		}
		var err error
		if text, err = mergePlannedPods(cached.Annotations[karpv1.AnnotationPlannedPods], pods); err != nil {
			return err
		}
		claim := cached.DeepCopy()
		if claim.Annotations == nil {
			claim.Annotations = map[string]string{}
		}
		claim.Annotations[karpv1.AnnotationPlannedPods] = text
		if err := setAnnounced(claim.Annotations, addCounts(lower.AnnouncedPods(claim), announced)); err != nil {
			return err
		}
		return a.Client.Patch(ctx, claim, client.MergeFromWithOptions(cached, client.MergeFromWithOptimisticLock{}))
	})
	switch {
	case apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("plan pods onto claim %s: %w", name, err)
	}
	return text, nil
}

// addCounts returns the counts with others added; those that come to nothing are left out.
func addCounts(have, more map[string]int) map[string]int {
	out := make(map[string]int, len(have)+len(more))
	maps.Copy(out, have)
	for owner, n := range more {
		out[owner] += n
	}
	maps.DeleteFunc(out, func(_ string, n int) bool { return n <= 0 })
	return out
}

// mergePlannedPods returns the annotation's text with more pods added; pods are sorted
// and listed once each. A text that cannot be read has no pods, as for package lower.
func mergePlannedPods(text string, more []string) (string, error) {
	var pods []string
	if text != "" {
		if err := json.Unmarshal([]byte(text), &pods); err != nil {
			pods = nil
		}
	}
	pods = append(pods, more...)
	slices.Sort(pods)
	out, err := json.Marshal(slices.Compact(pods))
	if err != nil {
		return "", fmt.Errorf("encode pods: %w", err)
	}
	return string(out), nil
}
