package aws_test

import (
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/resolve"
)

// TestRoleWithPath: a class may write its role with the path, and IAM takes the name alone.
// Both spellings are the same role, and share a profile.
func TestRoleWithPath(t *testing.T) {
	w := newEC2(t)
	role, classes := w.classes["default"].Spec.Role, w.provider.NodeClasses()
	want, err := classes.InstanceProfile(t.Context(), w.classes["default"])
	if err != nil {
		t.Fatal(err)
	}
	if err := classes.DeleteInstanceProfile(t.Context(), "/nodes/"+role); err != nil {
		t.Fatal(err)
	}
	got, err := classes.InstanceProfile(t.Context(), &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{Role: "nodes/" + role}})
	if err != nil || got != want {
		t.Errorf("profile %q, %v; want %q", got, err, want)
	}
	w.clock.Step(2 * time.Hour)
	swept, err := classes.SweepProfiles(t.Context(), resolve.ProfileUse{Roles: map[string]bool{role: true}})
	if err != nil || swept != 0 {
		t.Errorf("swept %d profiles, %v; want the one in use kept", swept, err)
	}
}

// TestClassesResolvedTogetherShareAProfile: a profile holds one role, and IAM refuses to
// add it twice. Classes of one role that are resolved at the same time must not wait for
// the next try, a minute later.
func TestClassesResolvedTogetherShareAProfile(t *testing.T) {
	w := newEC2(t)
	role, classes := w.classes["default"].Spec.Role, w.provider.NodeClasses()
	for range 5 {
		if err := classes.DeleteInstanceProfile(t.Context(), role); err != nil {
			t.Fatal(err)
		}
		var all errgroup.Group
		for range 8 {
			all.Go(func() error {
				class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{Role: role}}
				_, err := classes.InstanceProfile(t.Context(), class)
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	}
}
