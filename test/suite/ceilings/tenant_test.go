package ceilings

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
)

// shopCap is a policy that caps namespace shop.
type shopCap struct {
	policy.Policy

	usd float64
}

func (c shopCap) Info() policy.Info {
	return policy.Info{Name: "shop-budget", Namespace: "system", Hooks: []policy.Hook{policy.HookCeiling}}
}

func (c shopCap) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{Caps: map[string]policy.Cap{"namespace/shop": {HourlyUSD: &c.usd}}}, nil
}

// TestTenantTricks: nothing that a tenant may write on its pods gets them more nodes than
// the cap of their namespace has room for, nor takes anything from others.
func TestTenantTricks(t *testing.T) {
	owner := func(apiVersion, kind, name string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "u-1", Controller: new(true)}}
		}
	}
	tolerate := func(key string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
		}
	}
	label := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Labels = map[string]string{key: value} }
	}
	annotate := func(key, value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{key: value} }
	}
	honest := placed(t, func(*corev1.Pod) {})
	if honest.shop != 2 || honest.batch != 6 {
		t.Fatalf("%+v: the cap of 0.17 $/h has room for two pods of shop, whose nodes cost 0.08 $/h", honest)
	}
	for name, trick := range map[string]func(*corev1.Pod){
		"label of another namespace":  label("kubernetes.io/metadata.name", "batch"),
		"label of a team":             label("team", "ml"),
		"label of a NodePool":         label(karpv1.LabelNodePool, "static"),
		"do-not-disrupt":              annotate(karpv1.AnnotationDoNotDisrupt, "true"),
		"planned elsewhere":           annotate("spokeshave.dev/planned-pods", `["shop/shop-0"]`),
		"mirror":                      annotate("kubernetes.io/config.mirror", "x"),
		"accepted ledger":             annotate("spokeshave.dev/accept-ledger", "2026-03-10T00:00:00Z"),
		"suspended":                   annotate("spokeshave.dev/suspended-until", "2026-03-11T00:00:00Z"),
		"priority":                    func(p *corev1.Pod) { p.Spec.Priority = new(int32(2_000_000_000)) },
		"priority class":              func(p *corev1.Pod) { p.Spec.PriorityClassName = "system-node-critical" },
		"no preemption":               func(p *corev1.Pod) { p.Spec.PreemptionPolicy = new(corev1.PreemptNever) },
		"DaemonSet that is not there": owner("apps/v1", "DaemonSet", "agent"),
		"DaemonSet of another group":  owner("example.com/v1", "DaemonSet", "agent"),
		"Node that is not there":      owner("v1", "Node", "ip-1"),
		"Job":                         owner("batch/v1", "Job", "batch"),
		"NodeClaim":                   owner("karpenter.sh/v1", "NodeClaim", "c"),
		"no owner":                    func(p *corev1.Pod) { p.OwnerReferences = nil },
		"placeholder":                 tolerate(model.Placeholder),
		"reserved":                    tolerate(karpv1.TaintKeyReserved),
		"every taint":                 tolerate(""),
		"another scheduler":           func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" },
		"nominated":                   func(p *corev1.Pod) { p.Status.NominatedNodeName = "ip-1" },
		"UID of another pod":          func(p *corev1.Pod) { p.UID = "batch-0" },
		"host network":                func(p *corev1.Pod) { p.Spec.HostNetwork = true },
	} {
		t.Run(name, func(t *testing.T) {
			got := placed(t, trick)
			if got.shop > honest.shop || got.static > 0 {
				t.Errorf("%d of shop's pods get nodes, %d of a static NodePool; %d and none without the trick", got.shop, got.static, honest.shop)
			}
			if got.batch != honest.batch {
				t.Errorf("%d of batch's pods get nodes, %d without the trick of others", got.batch, honest.batch)
			}
		})
	}
}

// places counts the pods of each namespace that a plan launches nodes for, and those of
// shop on nodes of a static NodePool.
type places struct{ shop, batch, static int }

// placed plans six pods of shop, which a trick changes, and six of batch.
func placed(t *testing.T, trick func(*corev1.Pod)) places {
	t.Helper()
	in := lower.Inputs{
		Time: time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC), Live: true, Settings: model.Settings{StaticCapacity: true},
		Catalogs: map[string]model.Catalog{"default": *catalog("default")},
	}
	for _, name := range []string{"general", "static"} {
		np := &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		np.Spec.Template.Spec.NodeClassRef = karpv1.NodeClassReference{Group: awsv1.Group, Kind: awsv1.Kind, Name: "default"}
		np.Spec.Template.Spec.Requirements = []karpv1.Requirement{{Key: karpv1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}}}
		if name == "static" {
			np.Spec.Replicas = new(int64(1))
		}
		in.NodePools = append(in.NodePools, np)
	}
	for _, namespace := range []string{"shop", "batch"} {
		for i := range 6 {
			p := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{
					Namespace: namespace, Name: fmt.Sprintf("%s-%d", namespace, i), UID: types.UID(fmt.Sprintf("%s-%d", namespace, i)),
					OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "app", UID: "app", Controller: new(true)}},
				},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceCPU: resource.MustParse("1900m"), corev1.ResourceMemory: resource.MustParse("1Gi"),
				}}}}},
				Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
				}}},
			}
			if namespace == "shop" {
				trick(p)
			}
			in.Pods = append(in.Pods, p)
		}
	}
	s, _ := lower.Build(in)
	d, err := decide.Decide(t.Context(), &s, []policy.Policy{shopCap{usd: 0.17}}, decide.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out places
	for i := range d.Plan.Nodes {
		n := &d.Plan.Nodes[i]
		for _, pod := range n.Pods {
			switch s.Pods[pod].Namespace {
			case "shop":
				out.shop++
				if s.Pools[n.Pool].Replicas != nil {
					out.static++
				}
			case "batch":
				out.batch++
			}
		}
	}
	return out
}
