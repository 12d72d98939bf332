package lower

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// tenancies are the values of the label instance-tenancy, the first one where a choice is
// left.
var tenancies = []string{"default", "dedicated"} //nolint:gochecknoglobals // a constant

// ChosenLabels returns the labels that requirements choose for nodes, and that neither the
// instance type nor the offering decides: dedicated hardware, and the partition of a
// placement group. It is nil when the requirements choose none. problem says why a choice
// cannot be made, "" when it can.
func ChosenLabels(all []karpv1.Requirement) (chosen map[string]string, problem string) {
	required := requirements(all)
	tenancy := slices.IndexFunc(tenancies, func(value string) bool { return allows(required, awsv1.LabelInstanceTenancy, value) })
	if tenancy > 0 {
		chosen = map[string]string{awsv1.LabelInstanceTenancy: tenancies[tenancy]}
	}
	for _, r := range required {
		if r.Key != awsv1.LabelPlacementGroupPartition {
			continue
		}
		if r.Operator != model.In || len(r.Values) != 1 {
			return nil, fmt.Sprintf("%s: name one partition, or leave the requirement out: EC2 then chooses", r.Key)
		}
		if chosen == nil {
			chosen = map[string]string{}
		}
		chosen[r.Key] = r.Values[0]
	}
	return chosen, ""
}

// allows reports whether every requirement on the key accepts the value.
func allows(all []model.Requirement, key, value string) bool {
	return !slices.ContainsFunc(all, func(r model.Requirement) bool { return r.Key == key && !r.Matches(value, true) })
}

// catalogWith returns the index of the catalogue at an index with other labels on each
// type. It makes the catalogue when no pool before chose the same.
func (b *builder) catalogWith(at int32, chosen map[string]string) int32 {
	var key strings.Builder
	fmt.Fprint(&key, at)
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		fmt.Fprint(&key, "\x00", name, "\x00", chosen[name])
	}
	if known, ok := b.chosenCatalogs[key.String()]; ok {
		return known
	}
	out := withLabels(b.out.Catalogs[at], chosen)
	types := make(map[string]*model.InstanceType, len(out.Types))
	for i := range out.Types {
		types[out.Types[i].Name] = &out.Types[i]
	}
	made := int32(len(b.out.Catalogs))
	b.out.Catalogs, b.types = append(b.out.Catalogs, out), append(b.types, types)
	if b.chosenCatalogs == nil {
		b.chosenCatalogs = map[string]int32{}
	}
	b.chosenCatalogs[key.String()] = made
	return made
}

// withLabels returns a catalogue with other labels on each type. The argument's slices stay
// as they are.
func withLabels(c model.Catalog, chosen map[string]string) model.Catalog {
	c.Types = slices.Clone(c.Types)
	for i := range c.Types {
		t := &c.Types[i]
		t.Labels = maps.Clone(t.Labels)
		maps.Copy(t.Labels, chosen)
	}
	return c
}
