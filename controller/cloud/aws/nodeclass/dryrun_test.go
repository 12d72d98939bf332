package nodeclass_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	"spokeshave.dev/controller/cloud/aws/nodeclass"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/eventually"
)

// The answer of EC2 is the condition ValidationSucceeded, from a first refusal to the day
// when somebody has mended the IAM policy. A controller that starts anew shows the refusal
// until EC2 has answered again.
func TestReconcileDryRun(t *testing.T) {
	cluster := apiserver.Start(t)
	w := newEndpoint(t)
	w.resolver.DryRuns = w.provider.DryRuns()
	if err := w.provider.Sources().Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := run(t, cluster, w)

	const action = "RunInstances"
	if _, err := w.server.Order(sim.Fault{Action: action, DryRun: true, Code: "UnauthorizedOperation", Message: "You are not authorized to perform this operation.", HTTPStatus: 403}); err != nil {
		t.Fatal(err)
	}
	in := class()
	in.ObjectMeta = metav1.ObjectMeta{Name: "refused"}
	if err := c.Create(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the refusal as the class's condition", func() bool {
		got := read(t, c, "refused").Status.Conditions
		validated := meta.FindStatusCondition(got, awsv1.ConditionValidationSucceeded)
		return validated != nil && validated.Status == metav1.ConditionFalse && validated.Reason == awsv1.ReasonRunInstancesAuthCheckFailed &&
			meta.IsStatusConditionFalse(got, awsv1.ConditionReady)
	})

	started := nodeclass.Resolver{Cloud: w.provider.NodeClasses(), Clock: w.clock.Now, DryRuns: dryrun.New(dryrun.Config{Clock: w.clock.Now})}
	status, err := started.Resolve(t.Context(), read(t, c, "refused"))
	if last := meta.FindStatusCondition(status.Conditions, awsv1.ConditionValidationSucceeded); err != nil || last.Reason != awsv1.ReasonRunInstancesAuthCheckFailed {
		t.Errorf("after a restart %+v, %v; want what was written before", last, err)
	}

	w.clock.Step(dryrun.RefusedFor + time.Second)
	eventually.True(t, "the class ready once EC2 allows it", func() bool {
		return meta.IsStatusConditionTrue(read(t, c, "refused").Status.Conditions, awsv1.ConditionReady)
	})
}

// A class is ready before EC2 has answered, and stays so when it never does.
func TestReconcileDoesNotWaitForDryRun(t *testing.T) {
	cluster := apiserver.Start(t)
	w := newEndpoint(t)
	asked := make(chan struct{}, 100)
	w.resolver.DryRuns = dryrun.New(dryrun.Config{
		Clock: w.clock.Now,
		Catalog: func(*awsv1.EC2NodeClass) (model.Catalog, error) {
			asked <- struct{}{}
			<-t.Context().Done()
			return model.Catalog{}, context.Canceled
		},
	})
	c := run(t, cluster, w)
	create(t, c, "unanswered") // waits until it is ready
	<-asked
	if !meta.IsStatusConditionTrue(read(t, c, "unanswered").Status.Conditions, awsv1.ConditionReady) {
		t.Error("not ready while EC2 is asked")
	}
}
