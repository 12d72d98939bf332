package raise

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	theirs "sigs.k8s.io/karpenter/pkg/apis/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/tools/reference/oracle"
)

// Objects is the cluster of the manifests as Karpenter sees it: the same objects, with the
// class that the oracle knows and the conditions that Karpenter's controllers set.
func Objects(o *scenario.Objects, s *model.Snapshot) (*oracle.World, error) {
	w := &oracle.World{Time: s.Time, Settings: s.Settings, Types: oracle.TypesOf(s)}
	pools := map[string]*theirs.NodePool{}
	for _, p := range o.NodePools {
		out := &theirs.NodePool{}
		if err := through(p, out); err != nil {
			return nil, err
		}
		out.Spec.Template.Spec.NodeClassRef = &theirs.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: "default"}
		out.StatusConditions().SetTrue(theirs.ConditionTypeValidationSucceeded)
		out.StatusConditions().SetTrue(theirs.ConditionTypeNodeClassReady)
		pools[out.Name] = out
		w.Objects = append(w.Objects, out)
	}
	for _, c := range o.NodeClaims {
		out := &theirs.NodeClaim{}
		if err := through(c, out); err != nil {
			return nil, err
		}
		out.Spec.NodeClassRef = &theirs.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: "default"}
		if p := pools[out.Labels[theirs.NodePoolLabelKey]]; p != nil && settled(p, out, s.Time) {
			out.StatusConditions().SetTrue(theirs.ConditionTypeConsolidatable)
		}
		w.Objects = append(w.Objects, out)
	}
	w.Objects = append(w.Objects, each(o.Nodes)...)
	w.Objects = append(w.Objects, each(o.Pods)...)
	w.Objects = append(w.Objects, each(o.DaemonSets)...)
	w.Objects = append(w.Objects, each(o.Namespaces)...)
	w.Objects = append(w.Objects, each(o.Volumes)...)
	w.Objects = append(w.Objects, each(o.VolumeClaims)...)
	w.Objects = append(w.Objects, each(o.StorageClasses)...)
	w.Objects = append(w.Objects, each(o.CSINodes)...)
	w.Objects = append(w.Objects, each(o.Budgets)...)
	return w, nil
}

// settled says whether the claim's consolidateAfter is over: counted from the last pod
// event, or from the initialization where there was none.
func settled(p *theirs.NodePool, c *theirs.NodeClaim, now time.Time) bool {
	initialized := c.StatusConditions().Get(theirs.ConditionTypeInitialized)
	after := p.Spec.Disruption.ConsolidateAfter.Duration
	if !initialized.IsTrue() || after == nil {
		return false
	}
	since := c.Status.LastPodEventTime.Time
	if since.IsZero() {
		since = initialized.LastTransitionTime.Time
	}
	return !now.Before(since.Add(*after))
}

func each[T client.Object](list []T) []client.Object {
	out := make([]client.Object, len(list))
	for i, o := range list {
		out[i] = o.DeepCopyObject().(client.Object)
	}
	return out
}

// through writes an object and reads it as Karpenter's type.
func through(from, to any) error {
	raw, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		return fmt.Errorf("convert: %w", err)
	}
	return nil
}
