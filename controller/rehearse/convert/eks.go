package convert

import (
	"strconv"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// managedGroup is a managed node group, as aws eks describe-nodegroup prints it.
type managedGroup struct {
	Name          string            `json:"nodegroupName"`
	Cluster       string            `json:"clusterName"`
	InstanceTypes []string          `json:"instanceTypes"`
	Capacity      string            `json:"capacityType"`
	AMIType       string            `json:"amiType"`
	DiskSize      int               `json:"diskSize"`
	Subnets       []string          `json:"subnets"`
	Role          string            `json:"nodeRole"`
	Labels        map[string]string `json:"labels"`
	Tags          map[string]string `json:"tags"`
	Taints        []eksTaint        `json:"taints"`
	Scaling       eksScaling        `json:"scalingConfig"`
	Update        eksUpdate         `json:"updateConfig"`
	Template      *templateRef      `json:"launchTemplate"`
}

// managedCarried returns the fields of a managed node group that are read, or say nothing about
// new nodes.
func managedCarried() map[string]bool {
	return set("nodegroupName", "clusterName", "instanceTypes", "capacityType", "amiType", "diskSize", "subnets", "nodeRole", "labels", "tags", "taints",
		"scalingConfig", "updateConfig", "launchTemplate", "nodegroupArn", "version", "releaseVersion", "createdAt", "modifiedAt", "status", "resources", "health")
}

type eksScaling struct {
	Min int `json:"minSize"`
	Max int `json:"maxSize"`
}

type eksTaint struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Effect string `json:"effect"`
}

type eksUpdate struct {
	MaxUnavailable           int `json:"maxUnavailable"`
	MaxUnavailablePercentage int `json:"maxUnavailablePercentage"`
}

func (u eksUpdate) carry(d *draft) {
	switch {
	case u.MaxUnavailable > 0:
		d.pool.Disruption.Budgets = []karpv1.Budget{{Nodes: strconv.Itoa(u.MaxUnavailable)}}
	case u.MaxUnavailablePercentage > 0:
		d.pool.Disruption.Budgets = []karpv1.Budget{{Nodes: strconv.Itoa(u.MaxUnavailablePercentage) + "%"}}
	}
}

func (g *managedGroup) draft(templates templates, options Options) *draft {
	d := newDraft(g.Name, g.Cluster, options)
	d.sizes(g.Scaling.Min, g.Scaling.Max, "scalingConfig")
	d.types(g.InstanceTypes)
	switch g.Capacity {
	case "SPOT":
		d.purchase(0, 0, "capacityType")
	case "", "ON_DEMAND":
		d.purchase(0, 100, "capacityType")
	default:
		d.need("capacityType", "%s: set capacityReservationSelectorTerms of the class, and karpenter.sh/capacity-type reserved in the NodePool", g.Capacity)
	}
	d.labels(g.Labels, "labels")
	for _, t := range g.Taints {
		d.taint(t.Key, t.Value, t.Effect, "taints")
	}
	g.Update.carry(d)
	d.subnets(g.Subnets, nil)
	d.role(g.Role)
	d.tags(g.Tags, "tags")
	device := ""
	if g.AMIType != "CUSTOM" {
		device = d.image(g.AMIType, "", "amiType")
	}
	if g.Template != nil {
		d.template(templates, *g.Template, "launchTemplate")
	}
	if g.DiskSize > 0 && device != "" {
		gp3 := "gp3"
		d.disk(device, &awsv1.BlockDevice{VolumeSize: gibibytes(g.DiskSize), VolumeType: &gp3})
		d.note("diskSize", "%d GiB of gp3, which costs less than the gp2 that EKS makes", g.DiskSize)
	}
	return d
}
