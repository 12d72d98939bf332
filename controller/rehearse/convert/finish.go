package convert

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// unneeded is how long Cluster Autoscaler keeps a node that it could remove, by default.
const unneeded karpv1.NillableDuration = "10m"

// complete sets what no document says, and notes what is missing.
func (d *draft) complete() {
	c := &d.class
	if d.cluster == "" {
		d.need("cluster", "no document names the cluster: give --cluster-name")
	}
	if len(c.SecurityGroupSelectorTerms) == 0 {
		c.SecurityGroupSelectorTerms = []awsv1.SecurityGroupSelectorTerm{clusterGroup(d.cluster)}
		d.note("security groups", "nodes get the security group that EKS made for the cluster")
	}
	if len(c.SubnetSelectorTerms) == 0 {
		d.need("subnets", "no document names subnets: set subnetSelectorTerms of the class")
	}
	if len(c.AMISelectorTerms) == 0 {
		d.need("image", "no document names an image: set amiSelectorTerms of the class, such as an alias al2023@latest")
	}
	if c.InstanceProfile != nil {
		c.Role = "" // one of both
	} else if c.Role == "" {
		if c.Role = d.options.Role; c.Role == "" {
			d.need("role", "no document names the IAM role of the nodes: give --role. Its nodes are in the cluster's access entries or in ConfigMap aws-auth already")
		}
	}
	d.pool.Disruption.ConsolidateAfter = unneeded
	d.pool.Disruption.ConsolidationPolicy = karpv1.ConsolidateWhenEmptyOrUnderutilized
	if d.pool.Template.Spec.ExpireAfter == "" {
		d.pool.Template.Spec.ExpireAfter = karpv1.Never
	}
}

// result names NodePools and classes, and lets groups share classes that are equal.
func result(drafts []*draft) *Result {
	out := &Result{}
	taken := map[string]bool{}
	for _, d := range drafts {
		d.complete()
		name := unique(taken, objectName(d.group))
		class := out.class(&d.class, name)
		d.pool.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class}
		out.NodePools = append(out.NodePools, &karpv1.NodePool{
			TypeMeta: metav1.TypeMeta{APIVersion: karpv1.GroupVersion.String(), Kind: "NodePool"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: d.pool,
		})
		for _, n := range d.notes {
			n.NodePool = name
			out.Notes = append(out.Notes, n)
		}
	}
	return out
}

// class returns the name of the class with a spec, which is made where there is none yet.
func (r *Result) class(spec *awsv1.EC2NodeClassSpec, name string) string {
	for _, c := range r.Classes {
		if reflect.DeepEqual(&c.Spec, spec) {
			return c.Name
		}
	}
	r.Classes = append(r.Classes, &awsv1.EC2NodeClass{
		TypeMeta: metav1.TypeMeta{APIVersion: awsv1.GroupVersion.String(), Kind: "EC2NodeClass"}, ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: *spec,
	})
	return name
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

// longestName leaves room for what NodeClaims' names add, in a label of 63 characters.
const longestName = 50

// objectName makes a name of Kubernetes of a group's.
func objectName(group string) string {
	name := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(group), "-"), "-")
	if len(name) > longestName {
		name = strings.TrimRight(name[:longestName], "-")
	}
	if name == "" {
		return "group"
	}
	return name
}

// unique returns a name that is not taken, and takes it.
func unique(taken map[string]bool, name string) string {
	out := name
	for n := 2; taken[out]; n++ {
		out = fmt.Sprintf("%s-%d", name, n)
	}
	taken[out] = true
	return out
}
