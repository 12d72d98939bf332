package convert

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// scalingGroup is an Auto Scaling group, as aws autoscaling describe-auto-scaling-groups
// prints it.
type scalingGroup struct {
	Name     string   `json:"AutoScalingGroupName"`
	Min      int      `json:"MinSize"`
	Max      int      `json:"MaxSize"`
	Zones    []string `json:"AvailabilityZones"`
	Subnets  string   `json:"VPCZoneIdentifier"` // ids with commas between them
	Template *asgRef  `json:"LaunchTemplate"`
	Mixed    *mixed   `json:"MixedInstancesPolicy"`
	Lifetime int      `json:"MaxInstanceLifetime"` // seconds
	Tags     []asgTag `json:"Tags"`
}

// scalingCarried returns the fields of an Auto Scaling group that are read, or say nothing
// about new nodes.
func scalingCarried() map[string]bool {
	return set("AutoScalingGroupName", "MinSize", "MaxSize", "AvailabilityZones", "VPCZoneIdentifier", "LaunchTemplate", "MixedInstancesPolicy", "MaxInstanceLifetime",
		"Tags", "AutoScalingGroupARN", "DesiredCapacity", "PredictedCapacity", "DefaultCooldown", "HealthCheckType", "HealthCheckGracePeriod", "Instances", "CreatedTime",
		"SuspendedProcesses", "EnabledMetrics", "Status", "TerminationPolicies", "NewInstancesProtectedFromScaleIn", "ServiceLinkedRoleARN", "CapacityRebalance",
		"AvailabilityZoneDistribution", "AvailabilityZoneIds", "TrafficSources", "DefaultInstanceWarmup", "DeletionProtection", "AvailabilityZoneImpairmentPolicy", "InstanceMaintenancePolicy",
		"CapacityReservationSpecification")
}

// asgRef names a launch template in the words of the Auto Scaling API.
type asgRef struct {
	ID      string `json:"LaunchTemplateId"`
	Name    string `json:"LaunchTemplateName"`
	Version string `json:"Version"`
}

func (r asgRef) ref() templateRef { return templateRef(r) }

type mixed struct {
	Template struct {
		Spec      asgRef     `json:"LaunchTemplateSpecification"`
		Overrides []override `json:"Overrides"`
	} `json:"LaunchTemplate"`
	Distribution distribution `json:"InstancesDistribution"`
}

type override struct {
	InstanceType string                     `json:"InstanceType"`
	Weight       string                     `json:"WeightedCapacity"`
	Attributes   map[string]json.RawMessage `json:"InstanceRequirements"`
}

type distribution struct {
	Base       int  `json:"OnDemandBaseCapacity"`
	Percentage *int `json:"OnDemandPercentageAboveBaseCapacity"` // without it, 100
}

type tag struct {
	Key   string `json:"Key"`
	Value string `json:"Value"`
}

type asgTag struct {
	tag
	Launched bool `json:"PropagateAtLaunch"`
}

func tagMap(tags []tag) map[string]string {
	out := map[string]string{}
	for _, t := range tags {
		out[t.Key] = t.Value
	}
	return out
}

// nodeTemplate begins the tags by which Cluster Autoscaler knows what nodes of a group will be.
const nodeTemplate = "k8s.io/cluster-autoscaler/node-template/"

func (g *scalingGroup) draft(all templates, options Options) *draft {
	d := newDraft(g.Name, g.clusterName(), options)
	d.sizes(g.Min, g.Max, "MinSize")
	if len(g.Zones) > 0 {
		d.require(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, g.Zones...)
	}
	ref := g.Template
	if g.Mixed != nil {
		g.mixed(d)
		ref = &g.Mixed.Template.Spec
	} else {
		d.purchase(0, 100, "LaunchTemplate")
	}
	if g.Subnets != "" {
		d.subnets(strings.Split(g.Subnets, ","), nil)
	}
	g.autoscalerTags(d)
	if ref != nil {
		d.template(all, ref.ref(), "LaunchTemplate")
	} else {
		d.need("LaunchConfigurationName", "the group has no launch template: set amiSelectorTerms, role and securityGroupSelectorTerms of the class")
	}
	d.lifetime(g.Lifetime, "MaxInstanceLifetime")
	return d
}

// clusterName returns the name of the cluster that the group's tags tell, "" for none.
func (g *scalingGroup) clusterName() string {
	for _, t := range g.Tags {
		if name, ok := strings.CutPrefix(t.Key, "kubernetes.io/cluster/"); ok {
			return name
		}
		if t.Key == "eks:cluster-name" {
			return t.Value
		}
	}
	return ""
}

func (g *scalingGroup) mixed(d *draft) {
	var types []string
	weighted, described := false, 0
	for i := range g.Mixed.Template.Overrides {
		o := &g.Mixed.Template.Overrides[i]
		if o.InstanceType != "" {
			types = append(types, o.InstanceType)
		}
		weighted = weighted || o.Weight != ""
		if o.Attributes == nil {
			continue
		}
		if described++; described == 1 {
			o.carryAttributes(d, "InstanceRequirements")
		}
	}
	if described > 1 {
		d.need("InstanceRequirements", "the group has %d alternatives, and requirements of one NodePool hold all together: make a NodePool of each", described)
	}
	d.types(types)
	if weighted {
		d.note("WeightedCapacity", "weights are not needed: pods are packed onto what the types have. The limit counts nodes, where the group counted weights")
	}
	percentage := 100
	if p := g.Mixed.Distribution.Percentage; p != nil {
		percentage = *p
	}
	d.purchase(g.Mixed.Distribution.Base, percentage, "InstancesDistribution")
}

// autoscalerTags carries over what Cluster Autoscaler is told by tags, and the tags that
// instances get.
func (g *scalingGroup) autoscalerTags(d *draft) {
	labels, others := map[string]string{}, map[string]string{}
	for _, t := range g.Tags {
		key, ok := strings.CutPrefix(t.Key, nodeTemplate)
		switch what, name, _ := strings.Cut(key, "/"); {
		case !ok && strings.HasPrefix(t.Key, "k8s.io/cluster-autoscaler/"):
		case !ok && t.Launched:
			others[t.Key] = t.Value
		case ok && what == "label":
			labels[name] = t.Value
		case ok && what == "taint":
			value, effect, _ := strings.Cut(t.Value, ":")
			d.taint(name, value, effect, "Tags")
		case ok && what == "resources":
			d.note("Tags", "%s is left out: what instance types have is known", t.Key)
		case ok:
			d.note("Tags", "%s has no counterpart in a NodePool; consolidation is set by disruption.consolidateAfter and consolidationPolicy", t.Key)
		}
	}
	d.labels(labels, "Tags")
	d.tags(others, "Tags")
}
