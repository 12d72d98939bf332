package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Account says in whose name and where permissions are needed.
type Account struct {
	Partition string `json:"partition"`
	Region    string `json:"region"`
	Account   string `json:"account"`
	Cluster   string `json:"cluster"`
	// Queue is the interruption queue's name, empty for none.
	Queue string `json:"queue,omitempty"`
	// Roles are the ARNs of the nodes' roles. Those of instance profiles that
	// EC2NodeClasses name are not known.
	Roles []string `json:"roles,omitempty"`
	// MakesProfiles says that an EC2NodeClass names a role, for which an instance profile
	// is made.
	MakesProfiles bool `json:"makesProfiles,omitempty"`
	// Spot says that a NodePool allows spot.
	Spot bool `json:"spot,omitempty"`
	// ZonalShift says that zonal shifts are heeded.
	ZonalShift bool `json:"zonalShift,omitempty"`
	// AskPrices says that the Price List service is asked.
	AskPrices bool `json:"askPrices,omitempty"`
}

// Need is an action on a resource that the controller has to be allowed.
type Need struct {
	Action   string `json:"action"`
	Resource string `json:"resource"`
	// Keys are the condition keys of the request.
	Keys map[string][]string `json:"keys,omitempty"`
	// For says what it is needed for.
	For string `json:"for"`
}

// Permissions is what a role's policies allow of what is needed.
type Permissions struct {
	// Files are those that the policies were read from.
	Files   []string `json:"files"`
	Account Account  `json:"account"`
	Needed  int      `json:"needed"`
	Missing []Denied `json:"missing"`
}

// Denied is a need that is not met.
type Denied struct {
	Need

	// By names the statement that denies, empty where none allows.
	By string `json:"deniedBy,omitempty"`
}

// AccountOf returns what the objects of a cluster and Karpenter's settings tell of an
// account, beside what is given: its number, the cluster's name and the region, which may
// be empty.
func AccountOf(in *Input, given Account) Account {
	out := given
	out.AskPrices = true
	o := in.Cluster.Objects
	if k := in.Karpenter; k != nil {
		out.Cluster, out.Queue = firstOf(out.Cluster, k.Setting("cluster-name")), k.Setting("interruption-queue")
		out.Region = firstOf(out.Region, k.Environment["AWS_REGION"], k.Environment["AWS_DEFAULT_REGION"])
		out.ZonalShift, out.AskPrices = k.Setting("enable-zonal-shift") == "true", k.Setting("isolated-vpc") != "true"
	}
	for _, n := range o.Nodes {
		out.Region = firstOf(out.Region, n.Labels["topology.kubernetes.io/region"])
	}
	out.Partition = partition(out.Region)
	for _, class := range o.NodeClasses {
		role := class.Spec.Role
		if role == "" {
			continue
		}
		out.MakesProfiles = true
		if !strings.HasPrefix(role, "arn:") {
			role = fmt.Sprintf("arn:%s:iam::%s:role/%s", out.Partition, out.Account, role)
		}
		if !slices.Contains(out.Roles, role) {
			out.Roles = append(out.Roles, role)
		}
	}
	slices.Sort(out.Roles)
	out.Spot = slices.ContainsFunc(o.NodePools, allowsSpot)
	return out
}

func partition(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// Needs returns the permissions that the controller needs in an account.
func Needs(a *Account) []Need {
	n := &needs{account: a}
	n.launches()
	n.upkeep()
	n.reads()
	n.profiles()
	return n.all
}

// Lacking returns the needs that a policy does not meet. allows reports whether a need is
// met, and the name of the statement that denies it.
func Lacking(a *Account, files []string, allows func(*Need) (ok bool, by string)) *Permissions {
	all := Needs(a)
	out := &Permissions{Files: files, Account: *a, Needed: len(all), Missing: []Denied{}}
	for i := range all {
		if ok, by := allows(&all[i]); !ok {
			out.Missing = append(out.Missing, Denied{all[i], by})
		}
	}
	return out
}

// needs collects needs.
type needs struct {
	account *Account
	all     []Need
}

func (n *needs) add(purpose, action, resource string, keys map[string][]string) {
	n.all = append(n.all, Need{Action: action, Resource: resource, Keys: keys, For: purpose})
}

// arn returns the ARN of a resource of EC2 in the account.
func (n *needs) arn(kind string) string {
	return fmt.Sprintf("arn:%s:ec2:%s:%s:%s/*", n.account.Partition, n.account.Region, n.account.Account, kind)
}

// tags are those that everything gets which the controller makes.
func (n *needs) tags(prefix string) map[string][]string {
	out := map[string][]string{
		prefix + "kubernetes.io/cluster/" + n.account.Cluster: {"owned"}, prefix + "eks:eks-cluster-name": {n.account.Cluster},
		prefix + "karpenter.sh/nodepool": {"general"}, prefix + "karpenter.k8s.aws/ec2nodeclass": {"default"},
	}
	if prefix == requested {
		for key := range out {
			if tag, ok := strings.CutPrefix(key, prefix); ok {
				out["aws:TagKeys"] = append(out["aws:TagKeys"], tag)
			}
		}
		slices.Sort(out["aws:TagKeys"])
	}
	return out
}

// Prefixes of the condition keys of tags.
const (
	requested = "aws:RequestTag/"
	existing  = "aws:ResourceTag/"
)

// launches: fleets, dry runs and what they are made of.
func (n *needs) launches() {
	const purpose = "launching nodes"
	made := []string{"instance", "volume", "network-interface"}
	if n.account.Spot {
		made = append(made, "spot-instances-request")
	}
	for _, action := range []string{"CreateFleet", "RunInstances"} {
		for _, kind := range made {
			n.add(purpose, "ec2:"+action, n.arn(kind), n.tags(requested))
		}
		for _, kind := range []string{"security-group", "subnet"} {
			n.add(purpose, "ec2:"+action, n.arn(kind), nil)
		}
		n.add(purpose, "ec2:"+action, strings.Replace(n.arn("image"), ":"+n.account.Account+":", "::", 1), nil)
		n.add(purpose, "ec2:"+action, n.arn("launch-template"), n.tags(existing))
	}
	n.add(purpose, "ec2:CreateFleet", n.arn("fleet"), n.tags(requested))
	n.add(purpose, "ec2:CreateLaunchTemplate", n.arn("launch-template"), n.tags(requested))
	for _, kind := range append(made, "fleet", "launch-template") {
		keys := n.tags(requested)
		keys["ec2:CreateAction"] = []string{"CreateFleet"}
		if kind == "launch-template" {
			keys["ec2:CreateAction"] = []string{"CreateLaunchTemplate"}
		}
		n.add(purpose, "ec2:CreateTags", n.arn(kind), keys)
	}
	for _, role := range n.account.Roles {
		n.add("giving nodes their role", "iam:PassRole", role, map[string][]string{"iam:PassedToService": {"ec2.amazonaws.com"}})
	}
}

// upkeep: naming and ending what was launched.
func (n *needs) upkeep() {
	named := n.tags(existing)
	named["aws:TagKeys"] = []string{"Name", "karpenter.sh/nodeclaim"}
	n.add("naming instances", "ec2:CreateTags", n.arn("instance"), named)
	n.add("ending nodes", "ec2:TerminateInstances", n.arn("instance"), n.tags(existing))
	n.add("deleting unused launch templates", "ec2:DeleteLaunchTemplate", n.arn("launch-template"), n.tags(existing))
	if q := n.account.Queue; q != "" {
		for _, action := range []string{"GetQueueUrl", "ReceiveMessage", "DeleteMessage"} {
			n.add("interruptions", "sqs:"+action, fmt.Sprintf("arn:%s:sqs:%s:%s:%s", n.account.Partition, n.account.Region, n.account.Account, q), nil)
		}
	}
	if n.account.ZonalShift {
		n.add("zonal shifts", "arc-zonal-shift:GetManagedResource", "*", map[string][]string{"arc-zonal-shift:ResourceIdentifier": {n.cluster()}})
	}
}

func (n *needs) cluster() string {
	return fmt.Sprintf("arn:%s:eks:%s:%s:cluster/%s", n.account.Partition, n.account.Region, n.account.Account, n.account.Cluster)
}

// reads: what is looked at.
func (n *needs) reads() {
	for _, what := range []string{
		"CapacityReservations", "Images", "InstanceStatus", "InstanceTypeOfferings", "InstanceTypes", "Instances", "LaunchTemplates", "PlacementGroups", "SecurityGroups", "SpotPriceHistory", "Subnets",
	} {
		n.add("looking at EC2", "ec2:Describe"+what, "*", map[string][]string{"aws:RequestedRegion": {n.account.Region}})
	}
	n.add("finding images", "ssm:GetParameter", fmt.Sprintf("arn:%s:ssm:%s::parameter/aws/service/eks/optimized-ami/x", n.account.Partition, n.account.Region), nil)
	if n.account.AskPrices {
		n.add("reading prices", "pricing:GetProducts", "*", nil)
	}
	n.add("reading the cluster's endpoint", "eks:DescribeCluster", n.cluster(), nil)
}

// profiles: instance profiles for the roles that EC2NodeClasses name.
func (n *needs) profiles() {
	const purpose = "instance profiles"
	profile := fmt.Sprintf("arn:%s:iam::%s:instance-profile/*", n.account.Partition, n.account.Account)
	if !n.account.MakesProfiles {
		return
	}
	n.add(purpose, "iam:GetInstanceProfile", profile, nil)
	n.add(purpose, "iam:ListInstanceProfiles", profile, nil)
	in := func(prefix string) map[string][]string {
		out := n.tags(prefix)
		out[prefix+"topology.kubernetes.io/region"] = []string{n.account.Region}
		delete(out, "aws:TagKeys")
		return out
	}
	n.add(purpose, "iam:CreateInstanceProfile", profile, in(requested))
	both := in(requested)
	maps.Copy(both, in(existing))
	n.add(purpose, "iam:TagInstanceProfile", profile, both)
	for _, action := range []string{"AddRoleToInstanceProfile", "RemoveRoleFromInstanceProfile", "DeleteInstanceProfile"} {
		n.add(purpose, "iam:"+action, profile, in(existing))
	}
}

// permissionFindings has a finding for each action and statement that denies it.
func permissionFindings(p *Permissions) []Finding {
	if p == nil {
		return nil
	}
	type group struct{ action, purpose, by string }
	var order []group
	resources := map[group][]string{}
	for i := range p.Missing {
		d := &p.Missing[i]
		g := group{d.Action, d.For, d.By}
		if len(resources[g]) == 0 {
			order = append(order, g)
		}
		if !slices.Contains(resources[g], d.Resource) {
			resources[g] = append(resources[g], d.Resource)
		}
	}
	var out []Finding
	for _, g := range order {
		f := Finding{Permission, true, g.action, "no statement allows it", "examples/iam/controller-policy.json has a statement that allows it"}
		if g.by != "" {
			f.Message, f.Remedy = "statement "+g.by+" denies it", "narrow that statement"
		}
		f.Message += fmt.Sprintf(" on %s; needed for %s", strings.Join(resources[g], ", "), g.purpose)
		out = append(out, f)
	}
	return out
}
