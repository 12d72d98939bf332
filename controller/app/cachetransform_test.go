package app

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
)

const fullPod = `
metadata:
  name: web-1
  namespace: shop
  labels: {app: web, pod-template-hash: abc}
  annotations: {karpenter.sh/do-not-disrupt: "true", kubectl.kubernetes.io/last-applied-configuration: "{}"}
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web, uid: u1, controller: true}]
spec:
  nodeSelector: {team: shop}
  priorityClassName: high
  priority: 100
  overhead: {cpu: 50m}
  runtimeClassName: gvisor
  schedulerName: default-scheduler
  tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
  topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: In, values: [arm64]}]}]
  initContainers:
  - {name: sidecar, image: i, restartPolicy: Always, resources: {requests: {cpu: 100m}}}
  - {name: init, image: i, resources: {requests: {memory: 4Gi}}}
  containers:
  - name: main
    image: i
    env: [{name: SECRET, value: long}]
    ports: [{containerPort: 80, hostPort: 8080}]
    resources: {requests: {cpu: "1", memory: 1Gi}, limits: {nvidia.com/gpu: 1}}
  volumes:
  - {name: token, projected: {}}
  - {name: data, persistentVolumeClaim: {claimName: data}}
status:
  phase: Pending
  nominatedNodeName: n1
  conditions:
  - {type: PodScheduled, status: "False", reason: Unschedulable, message: a long story}
  - {type: ContainersReady, status: "False"}
`

func pod(t *testing.T) *corev1.Pod {
	t.Helper()
	p := &corev1.Pod{}
	if err := yamlInto(fullPod, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSlimPodKeepsWhatDecisionsRead(t *testing.T) {
	whole := pod(t)
	o, err := newTemplates().trimPod(pod(t))
	if err != nil {
		t.Fatal(err)
	}
	slim, ok := o.(*corev1.Pod)
	if !ok {
		t.Fatalf("trimPod gives a %T", o)
	}
	if diff := cmp.Diff(lower.PodSpec(whole), lower.PodSpec(slim)); diff != "" {
		t.Errorf("the pod's spec changes:\n%s", diff)
	}
	for name, f := range map[string]func(*corev1.Pod) any{
		"waiting":   func(p *corev1.Pod) any { return lower.IsWaiting(p, true) },
		"running":   func(p *corev1.Pod) any { return lower.IsRunning(p) },
		"daemon":    func(p *corev1.Pod) any { return lower.IsDaemon(p) },
		"owner":     func(p *corev1.Pod) any { return metav1.GetControllerOf(p) },
		"nominated": func(p *corev1.Pod) any { return p.Status.NominatedNodeName },
		"claim":     func(p *corev1.Pod) any { return p.Spec.Volumes[len(p.Spec.Volumes)-1].PersistentVolumeClaim.ClaimName },
		"protected": func(p *corev1.Pod) any { return p.Annotations[karpv1.AnnotationDoNotDisrupt] },
		"critical":  func(p *corev1.Pod) any { return p.Spec.PriorityClassName },
	} {
		if diff := cmp.Diff(f(whole), f(slim)); diff != "" {
			t.Errorf("%s changes:\n%s", name, diff)
		}
	}
	if len(slim.Spec.Containers[0].Env) > 0 || len(slim.Spec.Volumes) != 1 || slim.Annotations[lastApplied] != "" {
		t.Error("what nobody reads is kept")
	}
}

// TestReservationsAreForgotten: pods of one Deployment that were planned onto different
// nodes share their spec once they are bound, but not before: until then the toleration
// of the reservation is read.
func TestReservationsAreForgotten(t *testing.T) {
	alike := newTemplates()
	for name, tc := range map[string]struct {
		reason string
		node   string
		want   int
	}{
		"waits": {reason: "its toleration is looked for", want: 2},
		"runs":  {reason: "nobody asks any more", node: "n1", want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := pod(t)
			p.Spec.NodeName = tc.node
			p.Spec.Tolerations = append(p.Spec.Tolerations, karpv1.ReservedToleration("uid"))
			if _, err := alike.trimPod(p); err != nil {
				t.Fatal(err)
			}
			if len(p.Spec.Tolerations) != tc.want {
				t.Errorf("%s: tolerations %v", tc.reason, p.Spec.Tolerations)
			}
		})
	}
}

func TestSlimClaim(t *testing.T) {
	claim := func(instance string) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			karpv1.AnnotationLaunch: "[]", karpv1.AnnotationAttempt: "{}", karpv1.AnnotationPlannedPods: "[]",
		}}}
		// Others may write the condition.
		c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue}}
		c.Status.ProviderID = instance
		return c
	}
	for name, tc := range map[string]struct {
		reason, instance string
		want             int
	}{
		"in flight": {reason: "the attempt must be there to be repeated", want: 3},
		"launched":  {reason: "nobody repeats a launch that succeeded", instance: "aws:///zone-a/i-1", want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			c := claim(tc.instance)
			if _, err := newTemplates().trimClaim(c); err != nil {
				t.Fatal(err)
			}
			if len(c.Annotations) != tc.want {
				t.Errorf("%s: annotations %v", tc.reason, c.Annotations)
			}
		})
	}
}

func yamlInto(text string, o any) error { return yaml.UnmarshalStrict([]byte(text), o) }
