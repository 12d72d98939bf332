package adoption

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

const alone = `apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: alone, labels: {team: tools}}
spec:
  nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
  requirements:
  - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large, m5.xlarge]}
  - {key: topology.kubernetes.io/zone, operator: In, values: [us-west-2c]}
  resources: {requests: {cpu: "1", memory: 9Gi}}
  taints: [{key: only, value: tools, effect: NoSchedule}]
`

// standalone: a NodeClaim that somebody wrote is launched as its requirements say, and
// ends when it is deleted.
func standalone(t *testing.T, before *state) {
	if err := stack.Apply(t.Context(), []byte(alone)); err != nil {
		t.Fatal(err)
	}
	wait(t, "the claim to be a node", time.Minute, func(ctx context.Context) (string, bool) { return initialized(ctx, "alone") })
	instances, err := stack.Instances(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, i := range instances {
		if i.Claim != "alone" {
			continue
		}
		found++
		if i.Type != "m5.xlarge" || i.Zone != "us-west-2c" || i.Spot { // an m5.large has less than 9 GiB
			t.Errorf("the claim was launched as %+v", i)
		}
	}
	if found != 1 {
		t.Errorf("the claim has %d instances", found)
	}
	claim := &karpv1.NodeClaim{}
	claim.Name = "alone"
	astray(t)
	if err := stack.Client.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	wait(t, "the claim to be gone", time.Minute, func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return told(claim), apierrors.IsNotFound(err)
	})
	if what, ok := before.unmoved(t.Context(), 1); !ok {
		t.Error(what)
	}
}

// astray: a claim of a class that does not exist says so where its author looks, in an
// event and in a condition that points to it.
func astray(t *testing.T) {
	t.Helper()
	manifest := strings.NewReplacer("name: alone", "name: astray", "name: default", "name: nowhere").Replace(alone)
	if err := stack.Apply(t.Context(), []byte(manifest)); err != nil {
		t.Fatal(err)
	}
	wait(t, "an event that names the class", time.Minute, func(ctx context.Context) (string, bool) {
		events, err := stack.Events(ctx, func(e *corev1.Event) bool {
			return e.InvolvedObject.Name == "astray" && e.Reason == karpv1.EventLaunchFailed && strings.Contains(e.Message, "EC2NodeClass nowhere: does not exist")
		})
		return fmt.Sprintf("%d events, %v", len(events), err), len(events) > 0
	})
	claim := &karpv1.NodeClaim{}
	claim.Name = "astray"
	wait(t, "a condition that says that it waits", time.Minute, func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionLaunched)
		return told(claim), err == nil && c != nil && c.Status == metav1.ConditionUnknown && strings.Contains(c.Message, "events")
	})
	if err := stack.Client.Delete(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	wait(t, "the claim to be gone", time.Minute, func(ctx context.Context) (string, bool) {
		err := stack.Client.Get(ctx, client.ObjectKeyFromObject(claim), claim)
		return told(claim), apierrors.IsNotFound(err)
	})
}
