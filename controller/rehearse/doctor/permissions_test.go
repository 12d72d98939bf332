package doctor

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/simulator/iam/policy"
	"spokeshave.dev/test/kit/ec2"
)

// ofPolicies is the account that the policies of package ec2 are written for.
func ofPolicies() *Account {
	role := "arn:aws:iam::123456789012:role/KarpenterNodeRole-" + ec2.Cluster
	return &Account{
		Partition: "aws", Region: ec2.Region, Account: "123456789012", Cluster: ec2.Cluster, Queue: ec2.Cluster,
		Roles: []string{role}, MakesProfiles: true, Spot: true, ZonalShift: true, AskPrices: true,
	}
}

func lacking(a *Account, documents ...*policy.Document) []string {
	p := Lacking(a, nil, func(n *Need) (bool, string) {
		d := policy.Decide(documents, policy.Request{Action: n.Action, Resource: n.Resource, Keys: n.Keys})
		return d.Allowed, d.Statement
	})
	actions := map[string]bool{}
	for i := range p.Missing {
		actions[p.Missing[i].Action] = true
	}
	return slices.Sorted(maps.Keys(actions))
}

// TestNeedsAreAllowed: the policy that is published allows all that is needed, and the one
// that Karpenter documents all but zonal shifts.
func TestNeedsAreAllowed(t *testing.T) {
	want := map[string][]string{"own": nil, "karpenter": {"arc-zonal-shift:GetManagedResource"}}
	for name, document := range ec2.Policies(t) {
		if diff := cmp.Diff(want[name], lacking(ofPolicies(), document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestNeedsAreComplete: they have exactly the actions of the policy that is published, and
// without any of its statements something is missing.
func TestNeedsAreComplete(t *testing.T) {
	text, err := os.ReadFile("../../../examples/iam/controller-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Version   string
		Statement []struct {
			Sid    string
			Action []string
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	published, needed := map[string]bool{}, map[string]bool{}
	for _, s := range document.Statement {
		for _, action := range s.Action {
			published[action] = true
		}
	}
	for _, n := range Needs(ofPolicies()) {
		needed[n.Action] = true
	}
	if diff := cmp.Diff(published, needed); diff != "" {
		t.Errorf("the published policy (-) and what is needed (+):\n%s", diff)
	}
	own := ec2.Policies(t)["own"]
	for i, s := range own.Statements {
		without := &policy.Document{Statements: slices.Delete(slices.Clone(own.Statements), i, i+1)}
		if len(lacking(ofPolicies(), without)) == 0 {
			t.Errorf("nothing is missing without statement %s", s.ID)
		}
	}
}

// TestNeedsFollowSettings: what is not used is not needed.
func TestNeedsFollowSettings(t *testing.T) {
	a := ofPolicies()
	a.Queue, a.Roles, a.MakesProfiles, a.Spot, a.ZonalShift, a.AskPrices = "", nil, false, false, false, false
	for _, n := range Needs(a) {
		for _, unused := range []string{"sqs:", "iam:", "arc-zonal-shift:", "pricing:", "spot-instances-request"} {
			if strings.Contains(n.Action+" "+n.Resource, unused) {
				t.Errorf("%s on %s is needed for nothing", n.Action, n.Resource)
			}
		}
	}
}

// TestPermissionFindings: a statement that denies is named, and resources of one action
// stand together.
func TestPermissionFindings(t *testing.T) {
	p := Lacking(ofPolicies(), nil, func(n *Need) (bool, string) {
		return n.Action != "ec2:CreateFleet" && n.Action != "pricing:GetProducts", map[bool]string{true: "NoPrices"}[n.Action == "pricing:GetProducts"]
	})
	got := permissionFindings(p)
	if len(got) != 2 || !strings.Contains(got[0].Message, "instance/*, ") || !strings.Contains(got[1].Message, "statement NoPrices denies it on *") {
		t.Errorf("got %+v", got)
	}
}

// TestAccountOf: names come from Karpenter's settings and from the objects.
func TestAccountOf(t *testing.T) {
	c := read(t, karpenter("karpenter/controller:1.14.1", `, env: [{name: CLUSTER_NAME, value: prod}, {name: INTERRUPTION_QUEUE, value: q}, {name: AWS_REGION, value: cn-north-1}, {name: ENABLE_ZONAL_SHIFT, value: "true"}]`)+
		class+nodePool("spot", `requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]`, ""))
	got := AccountOf(&Input{Cluster: c, Karpenter: FindKarpenter(c.Deployments)}, Account{Account: "1"})
	want := Account{
		Partition: "aws-cn", Region: "cn-north-1", Account: "1", Cluster: "prod", Queue: "q", Roles: []string{"arn:aws-cn:iam::1:role/KarpenterNodeRole-prod"},
		MakesProfiles: true, Spot: true, ZonalShift: true, AskPrices: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
