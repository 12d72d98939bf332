package harness

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestMachine(t *testing.T) {
	claim := &karpv1.NodeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: "general-1",
			Labels: map[string]string{
				karpv1.LabelNodePool: "general", corev1.LabelInstanceTypeStable: "m5.large",
				corev1.LabelTopologyZone: "us-west-2b", karpv1.LabelCapacityType: "spot",
			},
			Annotations: map[string]string{
				karpv1.AnnotationDecision: "d1",
				karpv1.AnnotationLaunch: `[{"instanceType":"m5.large","zone":"us-west-2a","capacityType":"spot","price":30000},
					{"instanceType":"m5.large","zone":"us-west-2b","capacityType":"spot","price":40000}]`,
				karpv1.AnnotationPlannedPods: `["a/here","a/elsewhere","a/pending","a/gone"]`,
			},
		},
		Status: karpv1.NodeClaimStatus{NodeName: "n1", Conditions: []metav1.Condition{{Type: karpv1.ConditionInitialized, Status: "True"}}},
	}
	got, err := machine(claim, map[string]string{"a/here": "n1", "a/elsewhere": "n2", "a/pending": ""})
	if err != nil {
		t.Fatal(err)
	}
	want := Machine{
		Claim: "general-1", Node: "n1", Pool: "general", Type: "m5.large", Zone: "us-west-2b", CapacityType: "spot",
		Price: 0.04, Initialized: true, Decision: "d1", Planned: 2, AsPlanned: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the price is that of the offering launched; only bound pods count as planned:\n%s", diff)
	}
}

func TestEndsWithPID(t *testing.T) {
	tests := map[string]struct {
		reason   string
		identity string
		pid      int
		want     bool
	}{
		"own":     {"host and process", "host_12", 12, true},
		"another": {"a process whose number ends the same", "host_112", 12, false},
		"nobody":  {"a released lease", "", 12, false},
		"short":   {"no host", "_12", 12, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := endsWithPID(tt.identity, tt.pid); got != tt.want {
				t.Errorf("%s: got %v", tt.reason, got)
			}
		})
	}
}
