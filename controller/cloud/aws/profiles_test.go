package aws_test

import (
	"testing"

	"golang.org/x/sync/errgroup"

	awsv1 "spokeshave.dev/api/aws/v1"
)

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
