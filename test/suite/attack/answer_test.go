package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/harness"
)

// ceilingOn returns a ceiling policy with one cap in dollars an hour.
func ceilingOn(scope string, usd float64) map[string]string {
	return map[string]string{"p.rego": fmt.Sprintf("package spokeshave.ceiling\ncap[%q] := {\"hourly_usd\": %g}\n", scope, usd)}
}

// answerAttacks are policies whose settings or answers claim more than they may.
func answerAttacks() map[string]attack {
	return map[string]attack{
		"author/everything-is-free": {
			story: "a rank policy makes every offering count as a millionth of its price", want: "pods get nodes, and caps count true prices",
			keeps: "spend as EC2 bills it", launches: true,
			run: func(t *testing.T) {
				install(t, "free", "hooks: [rank]\n", map[string]string{"p.rego": "package spokeshave.rank\nmultiplier[\"free\"] := 0.000001 if input.offering.billed > 0\n"})
				status(t, "free", "Active")
				overrun(t, 12, greedyCap, apart)
			},
		},
		"author/negative-prices": {
			story: "a rank policy answers with a negative multiplier, so that the dearest is the cheapest", want: "the answer is a fault, pods get nodes",
			keeps: "the order of prices", launches: true, run: negativePrices,
		},
		"author/larger-cap": {
			story: "a second policy sets a larger cap on a scope that has one", want: "the smaller one holds", keeps: "the cap of 0.20 $/h", launches: true,
			run: func(t *testing.T) {
				install(t, "larger", "hooks: [ceiling]\npriority: 1000\n", ceilingOn("namespace/greedy", 1000))
				status(t, "larger", "Active")
				overrun(t, 12, greedyCap, apart)
			},
		},
		"author/broken-cap": {
			story: "somebody breaks the policy of a cap, to be rid of it", want: "the last good version holds", keeps: "the cap of 0.12 $/h", launches: true,
			run: func(t *testing.T) {
				install(t, "narrow", "hooks: [ceiling]\n", ceilingOn("namespace/greedy", 0.12))
				status(t, "narrow", "Active")
				apply(t, "narrow", "hooks: {\n", ceilingOn("namespace/greedy", 0.12))
				status(t, "narrow", "stays in force")
				overrun(t, 12, 0.12, apart)
			},
		},
		"author/mistyped-cap": {
			story: "a new budget says `hooks: ceiling` in place of a list", want: "it counts as a failing ceiling: nothing is launched until it is mended",
			keeps: "no node without a cap", run: func(t *testing.T) {
				install(t, "mistyped", "hooks: ceiling\n", ceilingOn("cluster", 20))
				status(t, "mistyped", "Rejected")
				nothingFor(t, 1)
			},
		},
		"author/suspends-for-years": {
			story: "somebody suspends a cap until 2099 by the annotation for emergencies", want: "it is not suspended, and an event says why",
			keeps: "the cap of 0.12 $/h", launches: true, run: suspendsForYears,
		},
		"author/excludes-for-others": {
			story: "a team's policy excludes every offering of every NodePool", want: "NodePools of others do not hear it", keeps: "launches of others",
			launches: true, run: func(t *testing.T) {
				installIn(t, "team-a", "nobody", "hooks: [rank]\n", map[string]string{"p.rego": "package spokeshave.rank\nexclude contains \"mine\" if true\n"})
				status(t, "nobody", "Active")
				serve(t)
			},
		},
		"author/fails-for-others": {
			story: "a team's policy fails on purpose and asks that its failure stops launches", want: "it is refused", keeps: "launches of others", launches: true,
			run: func(t *testing.T) {
				installIn(t, "team-a", "stubborn", "hooks: [rank]\nfailurePolicy: Fail\n", map[string]string{"p.rego": rank})
				status(t, "stubborn", "Rejected")
				status(t, "stubborn", "failClosed")
				serve(t)
			},
		},
		"author/cap-for-others": {
			story: "a team sets a cap of nothing on the whole cluster", want: "it is refused, since ceilings are the administrator's", keeps: "launches of others",
			launches: true, run: func(t *testing.T) {
				installIn(t, "team-a", "zero", "hooks: [ceiling]\n", ceilingOn("cluster", 0))
				status(t, "zero", "Rejected")
				serve(t)
			},
		},
		"author/many-reasons": {
			story: "a policy gives another reason for every offering at every decision", want: "the metrics stay as many as they were", keeps: "the number of series",
			launches: true, memory: true, run: manyReasons,
		},
		"author/largest-source": {
			story: "a policy has as many rules as a ConfigMap holds", want: "it is judged within its limits, and others are heard", keeps: "the controller's memory",
			launches: true, memory: true, run: largestSource,
		},
	}
}

func negativePrices(t *testing.T) {
	install(t, "negative", "hooks: [rank]\n", map[string]string{"p.rego": "package spokeshave.rank\nmultiplier[\"x\"] := 0 - input.offering.billed if input.offering.billed > 0\n"})
	status(t, "negative", "Active")
	before := number(t, "spokeshave_policy_faults_total", `policy="negative"`)
	work(t, 1)
	if number(t, "spokeshave_policy_faults_total", `policy="negative"`) == before {
		t.Error("a negative price is no fault")
	}
	fleet, err := general(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sum := harness.Hourly(fleet); sum > 0.2 {
		t.Errorf("the pod's node costs %.4f $/h: the dearest was taken for the cheapest", sum)
	}
	work(t, 0)
}

func suspendsForYears(t *testing.T) {
	install(t, "narrow", "hooks: [ceiling]\n", ceilingOn("namespace/greedy", 0.12))
	status(t, "narrow", "Active")
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: "narrow"}}
	patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: "2099-01-01T00:00:00Z"}}}`, karpv1.AnnotationSuspendedUntil)
	if err := stack.Client.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
	event(t, "PolicyNotSuspended", "narrow", "is not suspended")
	overrun(t, 12, 0.12, apart)
}

func manyReasons(t *testing.T) {
	serve(t)
	count := func() (n int) {
		if err := scrape(t.Context(), func(series) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := count()
	install(t, "reasons", "hooks: [rank]\n", map[string]string{
		"p.rego": "package spokeshave.rank\nexclude contains sprintf(\"<script>%s\\n%s\\\"%d\", [input.offering.instanceType, input.offering.zone, time.now_ns()]) if input.offering.arch == \"arm64\"\n",
	})
	status(t, "reasons", "Active")
	serve(t)
	serve(t)
	// A node that comes meanwhile brings some hundred series of its own; a series for each
	// reason would be thousands, one for each arm64 offering and decision.
	if after := count(); after > before+1000 {
		t.Errorf("there were %d series, and there are %d", before, after)
	}
}

func largestSource(t *testing.T) {
	var code strings.Builder
	code.WriteString("package spokeshave.rank\n")
	for i := 0; code.Len() < 900_000; i++ {
		fmt.Fprintf(&code, "exclude contains \"r%d\" if { input.offering.billed == -%d; startswith(input.offering.zone, \"nowhere-%d\") }\n", i, i+1, i)
	}
	install(t, "largest", "hooks: [rank]\n", map[string]string{"p.rego": code.String()})
	until(t, "the policy to be judged", func(ctx context.Context) (string, bool) {
		got, err := stack.PolicyStatus(ctx, "largest")
		return fmt.Sprint(got, err), strings.Contains(got, "Active") || strings.Contains(got, "Rejected")
	})
	serve(t)
}

// nothingFor creates pods and wants no node for them, as long as it looks.
func nothingFor(t *testing.T, pods int) {
	t.Helper()
	before := instances(t)
	if err := stack.Scale(t.Context(), "default", "work", pods); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Scale(context.WithoutCancel(t.Context()), "default", "work", 0); err != nil {
			t.Error(err)
		}
	})
	until(t, "the pods to wait", func(ctx context.Context) (string, bool) {
		n, err := metric(ctx, "karpenter_scheduler_unschedulable_pods_count", "")
		return fmt.Sprint(n, err), n >= float64(pods)
	})
	time.Sleep(time.Second) //nolint:forbidigo // what must not happen needs its time
	for id := range instances(t) {
		if !before[id] {
			t.Errorf("instance %s was launched", id)
		}
	}
}
