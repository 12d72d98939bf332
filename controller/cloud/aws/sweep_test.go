package aws_test

import (
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"

	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/ec2"
)

func TestSweepTemplates(t *testing.T) {
	w := newEC2(t)
	launch := func(claim string, labels map[string]string) {
		t.Helper()
		s := spec(claim, option("m7i.large", "us-west-2a", model.OnDemand))
		s.Labels = labels
		if _, err := w.provider.Launch(t.Context(), w.prepare(t, s)); err != nil {
			t.Fatal(err)
		}
	}
	sweep := func(want, left int) {
		t.Helper()
		n, err := w.provider.NodeClasses().SweepTemplates(t.Context())
		if have := len(w.server.State().Templates); err != nil || n != want || have != left {
			t.Errorf("swept %d templates, %d left, %v; want %d and %d", n, have, err, want, left)
		}
	}
	launch("a", map[string]string{"team": "one"})
	launch("b", map[string]string{"team": "two"})
	sweep(0, 2)
	w.clock.Step(40 * time.Minute)
	launch("c", map[string]string{"team": "two"})
	w.clock.Step(30 * time.Minute)
	sweep(1, 1)
	// A controller that has just started does not know what was used; what it
	// deletes too many, it makes again.
	w.provider = w.newProvider(t, w.url)
	sweep(1, 0)
	launch("d", map[string]string{"team": "two"})
	w.wantLiving(t, "a", "b", "c", "d")
}

func TestSweepProfiles(t *testing.T) {
	w := newEC2(t)
	client := iam.NewFromConfig(ec2.SDK(w.url))
	// Somebody else's, though it is called almost like ours.
	if _, err := client.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: sdk.String("demo_0123456789abcdef0123")}); err != nil {
		t.Fatal(err)
	}
	ours := w.classes["default"].Status.InstanceProfile
	sweep := func(reason string, roles, names map[string]bool, want int) {
		t.Helper()
		if n, err := w.provider.NodeClasses().SweepProfiles(t.Context(), resolve.ProfileUse{Roles: roles, Names: names}); err != nil || n != want {
			t.Errorf("%s: swept %d, %v, want %d", reason, n, err, want)
		}
	}
	sweep("a profile just made", nil, nil, 0)
	w.clock.Step(2 * time.Hour)
	sweep("a class names the role", map[string]bool{"KarpenterNodeRole-demo": true}, nil, 0)
	sweep("a claim was launched with it", nil, map[string]bool{ours: true}, 0)
	sweep("nothing does", nil, nil, 1)
	// One that lost its role and was not deleted then is ours by its tags; the
	// other cluster's is not, and neither is one that says nothing.
	for name, cluster := range map[string]string{"demo_1111111111aaaaaaaaaa": "demo", "demo_2222222222aaaaaaaaaa": "demo_2"} {
		_, err := client.CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: sdk.String(name), Tags: []iamtypes.Tag{
			{Key: sdk.String("kubernetes.io/cluster/" + cluster), Value: sdk.String("owned")},
			{Key: sdk.String("topology.kubernetes.io/region"), Value: sdk.String(region)},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	w.clock.Step(2 * time.Hour)
	sweep("half deleted", nil, nil, 1)
	if _, err := client.DeleteInstanceProfile(t.Context(), &iam.DeleteInstanceProfileInput{InstanceProfileName: sdk.String("demo_2222222222aaaaaaaaaa")}); err != nil {
		t.Errorf("another cluster's profile: %v", err)
	}
	if left := w.server.State().Profiles; len(left) != 1 || left[0] != "demo_0123456789abcdef0123" {
		t.Errorf("left %v", left)
	}
}
