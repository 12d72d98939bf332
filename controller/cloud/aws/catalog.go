package aws

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// lowered is a class's catalogue and what it was made from.
type lowered struct {
	key     string
	catalog model.Catalog
}

// Catalog implements provider.Provider: what the class can launch in the zones
// of its subnets, on the architectures of its images, with the room that its
// kubelet settings leave. The answer is shared; callers do not change it.
func (p *Provider) Catalog(ctx context.Context, nodeClass string) (model.Catalog, error) {
	class, err := p.class(ctx, nodeClass)
	if err != nil {
		return model.Catalog{}, fmt.Errorf("catalogue: %w", err)
	}
	out, err := p.catalogOf(ctx, class)
	if err != nil {
		return model.Catalog{}, err
	}
	p.knowReservations(ctx, class)
	now := p.cfg.Clock()
	return p.shifts.over(now, p.shortage.over(now, p.withReserved(class, out))), nil
}

// catalogOf is the class's catalogue with every offering available, and without
// reservations.
func (p *Provider) catalogOf(ctx context.Context, class *awsv1.EC2NodeClass) (model.Catalog, error) {
	on, err := p.offer(ctx)
	if err != nil {
		return model.Catalog{}, err
	}
	room, err := roomOf(&class.Spec)
	if err != nil {
		return model.Catalog{}, refuse(provider.ClassNotReady, "catalogue of EC2NodeClass %s: %w", class.Name, err)
	}
	learned, version := p.memories.learned()
	key, err := json.Marshal([]any{
		on.version, version, class.Status.Subnets, class.Status.AMIs, class.Spec.Kubelet,
		class.Spec.BlockDeviceMappings, class.Spec.InstanceStorePolicy, class.AMIFamily(),
	})
	if err != nil {
		return model.Catalog{}, refuse(provider.Invalid, "catalogue of EC2NodeClass %s: %w", class.Name, err)
	}
	p.mu.Lock()
	last, ok := p.lowered[class.Name]
	p.mu.Unlock()
	if ok && last.key == string(key) {
		return last.catalog, nil
	}
	out := p.lower(&on, lowering{class: class, room: room, learned: learned})
	p.mu.Lock()
	p.lowered[class.Name] = lowered{key: string(key), catalog: out}
	p.mu.Unlock()
	return out, nil
}

// lowering is a class, the room its kubelets leave, and what nodes reported of
// their memory.
type lowering struct {
	class   *awsv1.EC2NodeClass
	room    room
	learned map[bootedAs]int64
}

func (p *Provider) lower(on *offer, in lowering) model.Catalog {
	zoneIDs := map[string]string{}
	zones := []string{}
	for _, s := range in.class.Status.Subnets {
		if !slices.Contains(zones, s.Zone) {
			zones = append(zones, s.Zone)
		}
		if s.ZoneID != "" {
			zoneIDs[s.Zone] = s.ZoneID
			p.zoneIDs.learn(s.Zone, s.ZoneID)
		}
	}
	sales := slices.Clone(on.sales)
	for i := range sales {
		sales[i].ZoneIDs = zoneIDs
	}
	opts := in.room.options
	opts.NodeClass, opts.Region, opts.Zones = in.class.Name, p.region, zones
	opts.ReservedENIs, opts.MemoryOverheadPercent = p.cfg.ReservedENIs, p.cfg.MemoryOverhead
	opts.PrefixDelegation = p.cfg.PrefixDelegation
	_, build, windows := windowsRelease(in.class.AMIFamily())
	if windows {
		opts.OS = osWindows
		if opts.MaxPods == nil {
			opts.MaxPods = new(windowsPods)
		}
	}
	out := catalog.Lower(on.types, sales, opts)
	billed(out.Types, p.cfg.Discounts)
	if windows {
		asWindows(out.Types, on.types, build)
	}
	kept := out.Types[:0]
	for i := range out.Types {
		t := &out.Types[i]
		image := imageFor(in.class.Status.AMIs, t.Labels)
		if image == nil {
			continue
		}
		if reported, ok := in.learned[bootedAs{instanceType: t.Name, image: image.ID}]; ok {
			correct(t, reported)
		}
		for name, share := range in.room.evictionShare {
			part := int64(math.Ceil(share * float64(t.Capacity[name])))
			t.Allocatable[name] = max(0, t.Allocatable[name]-part)
		}
		kept = append(kept, *t)
	}
	out.Types = kept
	out.Generation = catalog.Generation(&out)
	return out
}

// imageFor is the first image whose requirements the labels meet.
func imageFor(images []awsv1.AMI, labels map[string]string) *awsv1.AMI {
	for i := range images {
		if fits(&images[i], labels) {
			return &images[i]
		}
	}
	return nil
}

func fits(image *awsv1.AMI, labels map[string]string) bool {
	for _, r := range image.Requirements {
		value, present := labels[r.Key]
		requirement := model.Requirement{Key: r.Key, Operator: model.Operator(r.Operator), Values: r.Values}
		if !requirement.Matches(value, present) {
			return false
		}
	}
	return true
}
