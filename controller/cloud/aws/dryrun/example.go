package dryrun

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/core/model"
)

var errNoOption = errors.New("no instance type of the class is sold on demand")

// example makes the requests for the cheapest on-demand option that any of the pools allows:
// IAM policies may forbid types that no pool uses. Where no pool allows any, or there is no
// pool, it is the cheapest of all.
func (c *Checker) example(ctx context.Context, class *awsv1.EC2NodeClass, pools [][]model.Requirement) (*fleet.Example, error) {
	catalog, err := c.cfg.Catalog(class)
	if err != nil {
		return nil, err
	}
	labels := map[string]bool{}
	for i := range catalog.Types {
		for key := range catalog.Types[i].Labels {
			labels[key] = true
		}
	}
	best, fits, found := model.Option{}, false, false
	for i := range catalog.Types {
		t := &catalog.Types[i]
		for j := range t.Offerings {
			o := &t.Offerings[j]
			if o.CapacityType != model.OnDemand {
				continue
			}
			allowed := allowedByAny(pools, labels, t, o)
			if found && (fits && !allowed || fits == allowed && o.Price >= best.Price) {
				continue
			}
			best, fits, found = model.Option{InstanceType: t.Name, Zone: o.Zone, CapacityType: o.CapacityType, Price: o.Price}, allowed, true
		}
	}
	if !found {
		return nil, errNoOption
	}
	return c.cfg.Example(ctx, class, best)
}

// allowedByAny reports whether the requirements of any of the pools allow an offering.
// Requirements on labels that no type has are not its matter; labels are those that some
// have.
func allowedByAny(pools [][]model.Requirement, labels map[string]bool, t *model.InstanceType, o *model.Offering) bool {
	for _, requirements := range pools {
		if allows(requirements, labels, t, o) {
			return true
		}
	}
	return false
}

func allows(requirements []model.Requirement, labels map[string]bool, t *model.InstanceType, o *model.Offering) bool {
	for i := range requirements {
		r := &requirements[i]
		value, present := t.Labels[r.Key]
		switch {
		case r.Key == corev1.LabelTopologyZone:
			value, present = o.Zone, true
		case !labels[r.Key]:
			continue
		}
		if !r.Matches(value, present) {
			return false
		}
	}
	return true
}
