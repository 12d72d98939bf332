package handmade

import (
	"encoding/json"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	theirs "sigs.k8s.io/karpenter/pkg/apis/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/rehearse/scenario"
	"spokeshave.dev/test/kit/random"
	"spokeshave.dev/tools/reference/oracle"
)

// instanceTypes are the catalogue of every handmade scenario: the families of
// test/kit/random, all of them available, and perhaps some reserved instances.
func instanceTypes(reserved int) model.Catalog {
	c := random.New(7).Catalog("default", 2, 4, 8, 16, 32)
	for i := range c.Types {
		t := &c.Types[i]
		for o := range t.Offerings {
			t.Offerings[o].Available = true
		}
		if reserved > 0 && t.Name == "m6i.x8" {
			t.Offerings = append(t.Offerings, model.Offering{
				Zone: "us-west-2b", ZoneID: "usw2-az2", CapacityType: model.Reserved, Available: true,
				Reservation: &model.Reservation{Free: reserved, ID: "cr-1", Type: "default", Interruptible: "false"},
			})
		}
	}
	return c
}

// world is what Karpenter gets: the same objects, with the class that the oracle knows.
func world(o *scenario.Objects, s *model.Snapshot) (*oracle.World, error) {
	w := &oracle.World{Time: s.Time, Settings: s.Settings, Types: oracle.TypesOf(s)}
	for _, p := range o.NodePools {
		out := &theirs.NodePool{}
		if err := through(p, out); err != nil {
			return nil, err
		}
		out.Spec.Template.Spec.NodeClassRef = &theirs.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: "default"}
		out.StatusConditions().SetTrue(theirs.ConditionTypeValidationSucceeded)
		out.StatusConditions().SetTrue(theirs.ConditionTypeNodeClassReady)
		w.Objects = append(w.Objects, out)
	}
	for _, c := range o.NodeClaims {
		out := &theirs.NodeClaim{}
		if err := through(c, out); err != nil {
			return nil, err
		}
		out.Spec.NodeClassRef = &theirs.NodeClassReference{Group: oracle.ClassGroup, Kind: oracle.ClassKind, Name: "default"}
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
	return w, nil
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
