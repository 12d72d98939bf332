package lower

import (
	"maps"
	"math"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"spokeshave.dev/controller/core/model"
)

// ebs is the name of the EBS CSI driver. Its limits are known before a node's CSINode
// reports them.
const ebs = "ebs.csi.aws.com"

// The number of volumes that the EBS driver can attach. A Nitro instance has at least
// 28 attachments, shared by volumes, network interfaces, local disks and accelerators;
// the root volume and two interfaces are attached when the driver starts. Newer types
// have more. Local disks are not counted one by one but as 8, so that the result is too
// small rather than too large: a pod must not wait beside a node that was launched for
// it. Types that are not Nitro attach 39, the root volume included.
// https://docs.aws.amazon.com/ebs/latest/userguide/ebs-volumes-multiple.html
const (
	nitroVolumes = 28 - 3
	localDisks   = 8
	otherVolumes = 39 - 1
)

// unlimited is the limit of a driver that sets none.
const unlimited = math.MaxInt32

// countAttachments adds to into the number of volumes that each CSI driver attaches for the pod,
// each claim once. A claim that several pods share counts for each of them; what is
// counted twice on one node is added to that node's limit (claimUsers.shared).
func (v *volumes) countAttachments(pod *corev1.Pod, into model.Resources) {
	if len(pod.Spec.Volumes) == 0 {
		return
	}
	seen := map[string]bool{}
	for i := range pod.Spec.Volumes {
		name, template := claimOf(pod, &pod.Spec.Volumes[i])
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		if driver := v.driver(pod.Namespace+"/"+name, template); driver == ebs || v.limited[driver] {
			into[model.VolumesPrefix+driver]++
		}
	}
}

// driver returns the CSI driver that attaches the claim's volume, "" when there is
// none. In-tree EBS volumes are attached by the CSI driver too.
func (v *volumes) driver(key string, template *corev1.PersistentVolumeClaimSpec) string {
	spec := template
	if c, ok := v.claims[key]; ok {
		spec = &c.Spec
	}
	if spec == nil {
		return ""
	}
	if spec.VolumeName != "" {
		p, ok := v.volumes[spec.VolumeName]
		switch {
		case !ok:
			return ""
		case p.Spec.CSI != nil:
			return p.Spec.CSI.Driver
		case p.Spec.AWSElasticBlockStore != nil:
			return ebs
		}
		return ""
	}
	name := v.defaultClass
	if spec.StorageClassName != nil {
		name = *spec.StorageClassName
	}
	class, ok := v.classes[name]
	switch {
	case !ok:
		return ""
	case class.Provisioner == "kubernetes.io/aws-ebs":
		return ebs
	}
	return class.Provisioner
}

// limitedDrivers returns the drivers that limit their volumes on some node.
func limitedDrivers(nodes []*storagev1.CSINode) map[string]bool {
	out := map[string]bool{}
	for _, n := range nodes {
		for i := range n.Spec.Drivers {
			if a := n.Spec.Drivers[i].Allocatable; a != nil && a.Count != nil {
				out[n.Spec.Drivers[i].Name] = true
			}
		}
	}
	return out
}

// setVolumeLimits sets how many volumes nodes and instance types can attach, for the
// drivers that some pod needs.
func (b *builder) setVolumeLimits() {
	var drivers []string
	for i := range b.out.Specs {
		for name := range b.out.Specs[i].Requests {
			if driver := name[min(len(name), len(model.VolumesPrefix)):]; model.CountsVolumes(name) && !slices.Contains(drivers, driver) {
				drivers = append(drivers, driver)
			}
		}
	}
	if len(drivers) == 0 {
		return
	}
	for c := range b.out.Catalogs {
		types := slices.Clone(b.out.Catalogs[c].Types)
		for t := range types {
			setLimits(&types[t].Allocatable, drivers, func(driver string) int64 { return typeVolumes(&types[t], driver) })
		}
		b.out.Catalogs[c].Types = types
	}
	csi := make(map[string]*storagev1.CSINode, len(b.in.CSINodes))
	for _, n := range b.in.CSINodes {
		csi[n.Name] = n
	}
	shared := b.claimUsers.shared()
	for i := range b.out.Nodes {
		n := &b.out.Nodes[i]
		setLimits(&n.Allocatable, drivers, func(driver string) int64 {
			return b.nodeVolumes(n, csi[n.Name], driver) + shared[attachmentKey{int32(i), driver}]
		})
	}
}

// setLimits replaces an allocatable by one with the limit of each driver.
func setLimits(to *model.Resources, drivers []string, limit func(driver string) int64) {
	out := maps.Clone(*to)
	if out == nil {
		out = model.Resources{}
	}
	for _, driver := range drivers {
		out[model.VolumesPrefix+driver] = limit(driver)
	}
	*to = out
}

// nodeVolumes returns the limit in the node's CSINode. A driver that is missing there
// has no limit, as in the scheduler, except on a node that is still starting, which has
// the limit of its instance type.
func (b *builder) nodeVolumes(n *model.Node, csi *storagev1.CSINode, driver string) int64 {
	if csi != nil {
		for i := range csi.Spec.Drivers {
			if d := &csi.Spec.Drivers[i]; d.Name == driver {
				if d.Allocatable == nil || d.Allocatable.Count == nil {
					return unlimited
				}
				return int64(*d.Allocatable.Count)
			}
		}
	}
	if n.State != model.InFlight && n.State != model.Registered || n.Pool < 0 || b.out.Pools[n.Pool].Catalog < 0 {
		return unlimited
	}
	if t := b.types[b.out.Pools[n.Pool].Catalog][n.InstanceType]; t != nil {
		return typeVolumes(t, driver)
	}
	if driver == ebs {
		return nitroVolumes - localDisks
	}
	return unlimited
}

// typeVolumes returns the least number of volumes that a new node of the type can
// attach.
func typeVolumes(t *model.InstanceType, driver string) int64 {
	const prefix = "karpenter.k8s.aws/instance-"
	if driver != ebs {
		return unlimited
	}
	if t.Labels[prefix+"hypervisor"] == "xen" {
		return otherVolumes
	}
	left := int64(nitroVolumes)
	if _, ok := t.Labels[prefix+"local-nvme"]; ok {
		left -= localDisks
	}
	for _, key := range []string{"gpu-count", "accelerator-count"} {
		if n, err := strconv.ParseInt(t.Labels[prefix+key], 10, 64); err == nil {
			left -= n
		}
	}
	return max(1, left)
}
