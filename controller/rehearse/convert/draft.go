package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/rehearse/wording"
)

// draft is a NodePool and its class while a group's document is read.
type draft struct {
	group   string
	cluster string
	options Options
	pool    karpv1.NodePoolSpec
	class   awsv1.EC2NodeClassSpec
	notes   []Note
}

func newDraft(group, cluster string, options Options) *draft {
	if options.Cluster != "" {
		cluster = options.Cluster
	}
	return &draft{group: group, cluster: cluster, options: options}
}

func (d *draft) note(field, format string, args ...any) {
	d.notes = append(d.notes, Note{Group: d.group, Field: field, Text: fmt.Sprintf(format, args...)})
}

func (d *draft) need(field, format string, args ...any) {
	d.note(field, format, args...)
	d.notes[len(d.notes)-1].Needed = true
}

// sizes carries the sizes of a group over: the largest becomes a limit.
func (d *draft) sizes(smallest, largest int, field string) {
	if largest > 0 {
		d.pool.Limits = karpv1.Limits{karpv1.LimitNodes: *resource.NewQuantity(int64(largest), resource.DecimalSI)}
	}
	if smallest > 0 {
		d.note(field, "the group keeps %s; a NodePool has as many nodes as its pods need. For nodes that wait for pods see replicas of a static NodePool, or pods of low priority that hold the room", wording.Plural(smallest, "node"))
	}
}

// types restricts instance types to those that are named.
func (d *draft) types(names []string) {
	if len(names) == 0 {
		return
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	d.require(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, names...)
	if len(names) < 5 {
		d.note("instance types", "only %s may be launched, as in the group. More types are cheaper and easier to get: remove this requirement, or name families with karpenter.k8s.aws/instance-family", strings.Join(names, ", "))
	}
}

// require adds a requirement, once. Of two about one key, both hold.
func (d *draft) require(key string, operator corev1.NodeSelectorOperator, values ...string) {
	r := karpv1.Requirement{Key: key, Operator: operator, Values: values}
	all := &d.pool.Template.Spec.Requirements
	if !slices.ContainsFunc(*all, func(o karpv1.Requirement) bool {
		return o.Key == key && o.Operator == operator && slices.Equal(o.Values, values)
	}) {
		*all = append(*all, r)
	}
}

// purchase carries over how capacity is bought: base nodes on demand, and above them a
// share of on-demand nodes in percent.
func (d *draft) purchase(base, percentage int, field string) {
	switch {
	case percentage >= 100:
		d.require(karpv1.LabelCapacityType, corev1.NodeSelectorOpIn, karpv1.CapacityTypeOnDemand)
		return
	case percentage == 0 && base == 0:
		d.require(karpv1.LabelCapacityType, corev1.NodeSelectorOpIn, karpv1.CapacityTypeSpot)
		return
	}
	d.require(karpv1.LabelCapacityType, corev1.NodeSelectorOpIn, karpv1.CapacityTypeOnDemand, karpv1.CapacityTypeSpot)
	d.note(field, "%s on demand and %d %% of the others cannot be kept: the NodePool launches what is best, which is mostly spot. For a fixed share give workloads a topology spread over karpenter.sh/capacity-type, or make two NodePools with limits", wording.Plural(base, "node"), percentage)
}

// subnets are those with the ids, or those with the tags where there are no ids.
func (d *draft) subnets(ids []string, tags map[string]string) {
	for _, id := range ids {
		d.class.SubnetSelectorTerms = append(d.class.SubnetSelectorTerms, awsv1.SubnetSelectorTerm{ID: id})
	}
	if len(ids) == 0 {
		d.class.SubnetSelectorTerms = []awsv1.SubnetSelectorTerm{{Tags: tags}}
	}
}

func (d *draft) securityGroups(ids []string) {
	for _, id := range ids {
		d.class.SecurityGroupSelectorTerms = append(d.class.SecurityGroupSelectorTerms, awsv1.SecurityGroupSelectorTerm{ID: id})
	}
}

// role sets the IAM role, by name or ARN.
func (d *draft) role(name string) {
	if name != "" {
		d.class.Role = name[strings.LastIndex(name, "/")+1:]
	}
}

func (d *draft) profile(name string) {
	if name != "" {
		name = name[strings.LastIndex(name, "/")+1:]
		d.class.InstanceProfile = &name
	}
}

// disk sets size (GiB) and type of the disk that images of a family keep their data on.
func (d *draft) disk(device string, disk *awsv1.BlockDevice) {
	d.class.BlockDeviceMappings = append(d.class.BlockDeviceMappings, awsv1.BlockDeviceMapping{DeviceName: &device, EBS: disk})
}

func gibibytes(n int) *resource.Quantity { q := resource.MustParse(strconv.Itoa(n) + "Gi"); return &q }
