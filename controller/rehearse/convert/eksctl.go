package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// clusterConfig is eksctl's configuration file.
type clusterConfig struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Groups  []json.RawMessage `json:"nodeGroups"`
	Managed []json.RawMessage `json:"managedNodeGroups"`
}

// eksctlGroup is one of its node groups, managed or not.
type eksctlGroup struct {
	Name string `json:"name"`
	eksctlSize
	eksctlTypes
	eksctlImage
	eksctlDisk
	eksctlNetwork
	Labels   map[string]string `json:"labels"`
	Taints   eksctlTaints      `json:"taints"`
	Tags     map[string]string `json:"tags"`
	MaxPods  *int32            `json:"maxPodsPerNode"`
	Lifetime int               `json:"maxInstanceLifetime"` // seconds
	Update   eksUpdate         `json:"updateConfig"`
	IAM      struct {
		Role    string `json:"instanceRoleARN"`
		Name    string `json:"instanceRoleName"`
		Profile string `json:"instanceProfileARN"`
	} `json:"iam"`
	Template *templateRef `json:"launchTemplate"`
}

type eksctlSize struct {
	Min     *int `json:"minSize"`
	Max     *int `json:"maxSize"`
	Desired *int `json:"desiredCapacity"`
}

type eksctlTypes struct {
	InstanceType  string              `json:"instanceType"`
	InstanceTypes []string            `json:"instanceTypes"`
	Spot          bool                `json:"spot"`
	Selector      selector            `json:"instanceSelector"`
	Distribution  *eksctlDistribution `json:"instancesDistribution"`
}

type eksctlDistribution struct {
	Types      []string `json:"instanceTypes"`
	Base       int      `json:"onDemandBaseCapacity"`
	Percentage *int     `json:"onDemandPercentageAboveBaseCapacity"` // without it, 100
}

type eksctlImage struct {
	Family     string `json:"amiFamily"`
	AMI        string `json:"ami"`
	Monitoring *bool  `json:"enableDetailedMonitoring"`
}

type eksctlDisk struct {
	Size       *int    `json:"volumeSize"`
	Type       *string `json:"volumeType"`
	IOPS       *int64  `json:"volumeIOPS"`
	Throughput *int64  `json:"volumeThroughput"`
	Encrypted  *bool   `json:"volumeEncrypted"`
	Key        *string `json:"volumeKmsKeyID"`
}

type eksctlNetwork struct {
	Private bool     `json:"privateNetworking"`
	Zones   []string `json:"availabilityZones"`
	Subnets []string `json:"subnets"`
	Groups  struct {
		Attach []string `json:"attachIDs"`
	} `json:"securityGroups"`
	NoIMDSv1 *bool `json:"disableIMDSv1"`
}

// eksctlCarried returns the fields that are read, or say nothing about new nodes.
func eksctlCarried() map[string]bool {
	return set("name", "minSize", "maxSize", "desiredCapacity", "instanceType", "instanceTypes", "spot", "instanceSelector", "instancesDistribution", "amiFamily", "ami",
		"volumeSize", "volumeType", "volumeIOPS", "volumeThroughput", "volumeEncrypted", "volumeKmsKeyID", "privateNetworking", "availabilityZones", "subnets", "securityGroups",
		"disableIMDSv1", "labels", "taints", "tags", "maxPodsPerNode", "maxInstanceLifetime", "updateConfig", "iam", "launchTemplate", "ebsOptimized", "asgMetricsCollection",
		"asgSuspendProcesses", "propagateASGTags", "instancePrefix", "instanceName", "releaseVersion", "enableDetailedMonitoring")
}

// eksctlTaints are taints as a list, or as a map from key to value:effect.
type eksctlTaints []eksTaint

// UnmarshalJSON implements json.Unmarshaler.
func (t *eksctlTaints) UnmarshalJSON(raw []byte) error {
	var list []eksTaint
	if err := json.Unmarshal(raw, &list); err == nil {
		*t = list
		return nil
	}
	var byKey map[string]string
	if err := json.Unmarshal(raw, &byKey); err != nil {
		return fmt.Errorf("taints: want a list of key, value and effect, or a map from key to value:effect")
	}
	for _, key := range slices.Sorted(maps.Keys(byKey)) {
		value, effect, _ := strings.Cut(byKey[key], ":")
		*t = append(*t, eksTaint{Key: key, Value: value, Effect: effect})
	}
	return nil
}

func (g *eksctlGroup) draft(cluster string, all templates, options Options) *draft {
	d := newDraft(g.Name, cluster, options)
	g.carrySize(d)
	g.carryTypes(d)
	d.labels(g.Labels, "labels")
	for _, t := range g.Taints {
		d.taint(t.Key, t.Value, t.Effect, "taints")
	}
	d.tags(g.Tags, "tags")
	g.Update.carry(d)
	d.lifetime(g.Lifetime, "maxInstanceLifetime")
	d.role(cmp.Or(g.IAM.Role, g.IAM.Name))
	d.profile(g.IAM.Profile)
	if g.MaxPods != nil {
		d.class.Kubelet = &awsv1.KubeletConfiguration{MaxPods: g.MaxPods}
	}
	g.carryNetwork(d)
	g.carryImage(d)
	if g.Template != nil {
		d.template(all, *g.Template, "launchTemplate")
	}
	return d
}

func (g *eksctlGroup) carrySize(d *draft) {
	size := func(n *int) int {
		if n == nil {
			return 0
		}
		return *n
	}
	most := size(g.Max)
	if g.Max == nil {
		most = size(g.Desired)
	}
	d.sizes(size(g.Min), most, "minSize")
}

func (g *eksctlGroup) carryTypes(d *draft) {
	types := g.InstanceTypes
	if g.InstanceType != "" && g.InstanceType != "mixed" {
		types = append(types, g.InstanceType)
	}
	base, percentage := 0, 100
	if g.Spot {
		percentage = 0
	}
	if s := g.Distribution; s != nil {
		types, base = append(types, s.Types...), s.Base
		if s.Percentage != nil {
			percentage = *s.Percentage
		}
	}
	g.Selector.carry(d)
	if len(types) == 0 && g.Selector == (selector{}) && g.Template == nil {
		types = []string{"m5.large"} // eksctl's default
	}
	d.types(types)
	d.purchase(base, percentage, "instancesDistribution")
}

// carryNetwork chooses the subnets that eksctl made for the cluster where the group names none.
func (g *eksctlGroup) carryNetwork(d *draft) {
	role := "kubernetes.io/role/elb"
	if g.Private {
		role = "kubernetes.io/role/internal-elb"
	}
	var ids []string
	for _, s := range g.Subnets {
		if strings.HasPrefix(s, "subnet-") {
			ids = append(ids, s)
			continue
		}
		d.need("subnets", "%s is a name within the file: put the id of the subnet in its place", s)
	}
	d.subnets(ids, map[string]string{"alpha.eksctl.io/cluster-name": d.cluster, role: "1"})
	if len(g.Zones) > 0 {
		d.require(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, g.Zones...)
	}
	if len(g.Groups.Attach) > 0 {
		d.securityGroups(g.Groups.Attach)
		d.class.SecurityGroupSelectorTerms = append(d.class.SecurityGroupSelectorTerms, clusterGroup(d.cluster))
	}
	if g.NoIMDSv1 != nil && !*g.NoIMDSv1 {
		optional := "optional"
		d.class.MetadataOptions = &awsv1.MetadataOptions{HTTPTokens: &optional}
	}
}

// carryImage chooses images and the disk, with eksctl's defaults: Amazon Linux 2023, 80 GiB of gp3.
func (g *eksctlGroup) carryImage(d *draft) {
	d.class.DetailedMonitoring = g.Monitoring
	id := g.AMI
	if id == "auto" || id == "auto-ssm" {
		id = ""
	}
	device := d.image(cmp.Or(g.Family, "AmazonLinux2023"), id, "amiFamily")
	if device == "" || g.Template != nil {
		return
	}
	size, kind := 80, "gp3"
	if g.Size != nil {
		size = *g.Size
	}
	if g.Type != nil {
		kind = *g.Type
	}
	d.disk(device, &awsv1.BlockDevice{VolumeSize: gibibytes(size), VolumeType: &kind, IOPS: g.IOPS, Throughput: g.Throughput, Encrypted: g.Encrypted, KMSKeyID: g.Key})
}

// clusterGroup selects the security group that EKS makes for a cluster.
func clusterGroup(cluster string) awsv1.SecurityGroupSelectorTerm {
	return awsv1.SecurityGroupSelectorTerm{Tags: map[string]string{"aws:eks:cluster-name": cluster}}
}
