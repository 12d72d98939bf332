package churn

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// manifest is a class and a NodePool of the same name, whose nodes take one pod each.
const manifest = `apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: NAME}
spec:
  role: KarpenterNodeRole-spokeshave
  amiSelectorTerms: [{alias: al2023@latest}]
  subnetSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
  securityGroupSelectorTerms: [{tags: {karpenter.sh/discovery: spokeshave}}]
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: NAME}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: NAME}
      requirements:
      - {key: karpenter.k8s.aws/instance-cpu, operator: In, values: ["2"]}
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}
`

// poolName is the name of the nth NodePool and class of a round.
func poolName(round, n int) string { return fmt.Sprintf("churn-%03d-%02d", round, n) }

// workload returns the nth of the workloads that the pods belong to, and makes it if it is new.
// Workloads stay, as they do where nodes come and go: the ledger of the month lists each one that
// had a share of a node, and a pod of no workload is one of its own. It is a PodTemplate, which
// no other controller acts on.
func workload(ctx context.Context, n int) (metav1.OwnerReference, error) {
	o := &corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("workload-%02d", n)}}
	err := stack.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		o.Template.Spec = pod("", 0).Spec
		err = stack.Client.Create(ctx, o)
	}
	return *metav1.NewControllerRef(o, corev1.SchemeGroupVersion.WithKind("PodTemplate")), err
}

// come makes NodePools and classes, and a pod for each node, and waits until all run.
func come(t *testing.T, round, pools, nodes int) {
	t.Helper()
	err := inParallel(t.Context(), pools, func(ctx context.Context, n int) error {
		name := poolName(round, n)
		if err := stack.Apply(ctx, []byte(strings.ReplaceAll(manifest, "NAME", name))); err != nil {
			return err
		}
		owner, err := workload(ctx, n)
		if err != nil {
			return err
		}
		for i := range nodes {
			p := pod(name, i)
			p.OwnerReferences = []metav1.OwnerReference{owner}
			if err := stack.Client.Create(ctx, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = stack.Until(t.Context(), "all pods to run", 30*time.Minute, func(ctx context.Context) (string, bool) {
		return none(ctx, "Pod that does not run", "v1", "PodList", client.InNamespace("default"), client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("status.phase", string(corev1.PodRunning))})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// none reports whether the API server has no object of a kind. It reads at most one, and not
// the whole of it: the test polls, and hundreds of NodeClaims at each look would take more
// of the processors than the controller does.
func none(ctx context.Context, what, version, kind string, opts ...client.ListOption) (string, bool) {
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: version, Kind: kind}}
	if err := stack.Client.List(ctx, list, append(opts, client.Limit(1))...); err != nil {
		return err.Error(), false
	}
	if len(list.Items) > 0 {
		return "there is a " + what + ": " + list.Items[0].Name, false
	}
	return "", true
}

func pod(pool string, n int) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("%s-%03d", pool, n)},
		Spec: corev1.PodSpec{
			NodeSelector: map[string]string{karpv1.LabelNodePool: pool},
			Containers: []corev1.Container{{
				Name: "main", Image: "example.com/main:1",
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1500m")}},
			}},
		},
	}
}

// leave deletes every pod, NodePool and class, and waits until nothing is left of them,
// neither in the cluster nor in EC2.
func leave(t *testing.T) {
	t.Helper()
	c := stack.Client
	for _, o := range []client.Object{&corev1.Pod{}, &karpv1.NodePool{}, &awsv1.EC2NodeClass{}} {
		opts := []client.DeleteAllOfOption{client.GracePeriodSeconds(0)}
		if _, ok := o.(*corev1.Pod); ok {
			opts = append(opts, client.InNamespace("default"))
		}
		if err := c.DeleteAllOf(t.Context(), o, opts...); err != nil {
			t.Fatal(err)
		}
	}
	err := stack.Until(t.Context(), "everything to be gone", 10*time.Minute, func(ctx context.Context) (string, bool) {
		if state, ok := none(ctx, "NodeClaim", karpv1.GroupVersion.String(), "NodeClaimList"); !ok {
			return state, false
		}
		if state, ok := none(ctx, "EC2NodeClass", awsv1.GroupVersion.String(), "EC2NodeClassList"); !ok {
			return state, false
		}
		instances, err := stack.Instances(ctx)
		return fmt.Sprintf("%d instances, %v", len(instances), err), err == nil && len(instances) == 0
	})
	if err != nil {
		t.Fatal(err)
	}
	// These series take megabytes. They leave when the inventory is next taken, up to 15 s later,
	// and would count as growth if they were there at one measurement and not at another.
	err = stack.Until(t.Context(), "the series of offerings to leave with the NodePools", time.Minute, func(ctx context.Context) (string, bool) {
		var f figures
		err := get(ctx, "/metrics", f.read)
		return fmt.Sprintf("%d series of offerings, %v", f.offerings, err), err == nil && f.offerings == 0
	})
	if err != nil {
		t.Fatal(err)
	}
}

// replacePolicies applies versions of the policy one after the other, each with other
// text, beside what the test does. The channel has the outcome at the end.
func replacePolicies(ctx context.Context, from, n int) <-chan error {
	out := make(chan error, 1)
	go func() {
		for version := from; version < from+n; version++ {
			if err := replacePolicy(ctx, version); err != nil {
				out <- err
				return
			}
		}
		out <- nil
	}()
	return out
}

// replacePolicy applies a version of the policy and waits until it is in force: a version that
// is replaced before is never loaded.
func replacePolicy(ctx context.Context, version int) error {
	before, err := loadedRevisions(ctx)
	if err != nil {
		return err
	}
	if err := stack.ApplyPolicy(ctx, policyOf(version)); err != nil {
		return err
	}
	return stack.Until(ctx, fmt.Sprintf("version %d of the policy to be in force", version), 5*time.Minute, func(ctx context.Context) (string, bool) {
		select { // /metrics has megabytes in a long run
		case <-clock.RealClock{}.After(time.Second):
		case <-ctx.Done():
		}
		now, err := loadedRevisions(ctx)
		return fmt.Sprintf("%.0f revisions, %v", now, err), err == nil && now > before
	})
}

// loadedRevisions returns how many revisions of policies the controller has loaded.
func loadedRevisions(ctx context.Context) (float64, error) {
	var f figures
	err := get(ctx, "/metrics", f.read)
	return f.revisions, err
}

func policyOf(version int) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "replaced", Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data: map[string]string{
			"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n",
			"p.rego":      fmt.Sprintf("package spokeshave.rank\nmultiplier[\"v%d\"] := 1.%03d if input.offering.arch == \"arm64\"\n", version, version%1000),
		},
	}
}

// inParallel calls do for 0 to n-1, eight at a time.
func inParallel(ctx context.Context, n int, do func(context.Context, int) error) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(8)
	for i := range n {
		work.Go(func() error { return do(ctx, i) })
	}
	return work.Wait()
}
