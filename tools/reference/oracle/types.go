package oracle

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	karpv1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// Types are the instance types that NodePools can launch, by the pools' names.
type Types map[string][]*cloudprovider.InstanceType

// Register makes the labels of AWS well known and names the label that tells
// reservations apart. AWS's provider does this when it starts; call it once.
func Register() {
	karpv1.WellKnownLabels.Insert(awsv1.WellKnownLabels()...)
	cloudprovider.ReservationIDLabel = awsv1.LabelCapacityReservationID
	cloudprovider.ReservedCapacityLabels.Insert(
		awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterruptible)
}

// TypesOf are the instance types of every NodePool of the snapshot that has some.
func TypesOf(s *model.Snapshot) Types {
	out := Types{}
	for i := range s.Pools {
		if at := s.Pools[i].Catalog; at >= 0 {
			out[s.Pools[i].Name] = catalogTypes(&s.Catalogs[at])
		}
	}
	return out
}

func catalogTypes(c *model.Catalog) []*cloudprovider.InstanceType {
	out := make([]*cloudprovider.InstanceType, len(c.Types))
	for i := range c.Types {
		out[i] = instanceType(c, &c.Types[i])
	}
	return out
}

// instanceType has a requirement for every well-known label of AWS: what the type
// has, or that it has none.
func instanceType(c *model.Catalog, t *model.InstanceType) *cloudprovider.InstanceType {
	labels := maps.Clone(t.Labels)
	labels[corev1.LabelInstanceTypeStable], labels[corev1.LabelArchStable], labels[corev1.LabelOSStable] = t.Name, t.Arch, t.OS
	if c.Region != "" {
		labels[corev1.LabelTopologyRegion] = c.Region
	}
	zones, ids, kinds := map[string]bool{}, map[string]bool{}, map[string]bool{}
	out := &cloudprovider.InstanceType{
		Name: t.Name, Capacity: Quantities(t.Capacity),
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: Quantities(less(t.Capacity, t.Allocatable))},
	}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		zones[o.Zone], kinds[string(o.CapacityType)] = true, true
		if o.ZoneID != "" {
			ids[o.ZoneID] = true
		}
		out.Offerings = append(out.Offerings, offering(o))
	}
	reqs := scheduling.NewLabelRequirements(labels)
	add := func(key string, values map[string]bool) {
		reqs.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, keys(values)...))
	}
	add(corev1.LabelTopologyZone, zones)
	add(karpv1.CapacityTypeLabelKey, kinds)
	if len(ids) > 0 {
		add(awsv1.LabelTopologyZoneID, ids)
	}
	for _, key := range awsv1.WellKnownLabels() {
		if !reqs.Has(key) && key != awsv1.LabelEC2NodeClass && !cloudprovider.ReservedCapacityLabels.Has(key) {
			reqs.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
		}
	}
	out.Requirements = reqs
	return out
}

func offering(o *model.Offering) *cloudprovider.Offering {
	reqs := scheduling.NewLabelRequirements(map[string]string{
		corev1.LabelTopologyZone: o.Zone, karpv1.CapacityTypeLabelKey: string(o.CapacityType),
	})
	if o.ZoneID != "" {
		reqs.Add(scheduling.NewRequirement(awsv1.LabelTopologyZoneID, corev1.NodeSelectorOpIn, o.ZoneID))
	}
	out := &cloudprovider.Offering{Requirements: reqs, Price: o.Price.USD(), Available: o.Available}
	for key := range cloudprovider.ReservedCapacityLabels {
		value, _ := o.Label(key)
		if value == "" {
			reqs.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
			continue
		}
		reqs.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, value))
	}
	if o.Reservation != nil {
		out.ReservationCapacity = o.Reservation.Free
	}
	return out
}

// Quantities are amounts of resources as Kubernetes writes them.
func Quantities(r model.Resources) corev1.ResourceList {
	out := corev1.ResourceList{}
	for name, n := range r {
		q := resource.NewQuantity(n, resource.BinarySI)
		if name == model.CPU {
			q = resource.NewMilliQuantity(n, resource.DecimalSI)
		}
		out[corev1.ResourceName(name)] = *q
	}
	return out
}

// less is what is missing of all in rest.
func less(all, rest model.Resources) model.Resources {
	out := model.Resources{}
	for name, n := range all {
		if n != rest[name] {
			out[name] = n - rest[name]
		}
	}
	return out
}

func keys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	return out
}
