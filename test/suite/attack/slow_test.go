package attack

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"spokeshave.dev/test/kit/harness"
)

// slowAttacks are policies that never pass their deadline, and are asked often.
func slowAttacks() map[string]attack {
	const keeps = "how long a decision takes, answers of other policies"
	return map[string]attack{
		"author/slow-but-legal": {
			story: "a policy takes a third of its deadline for each of thirty NodePools", want: "its time for a decision ends, pods get nodes", keeps: keeps, launches: true,
			run: func(t *testing.T) {
				effort := slow(t)
				crowd(t)
				install(t, "slow", "hooks: [rank]\n", map[string]string{"p.rego": busy(effort)})
				status(t, "slow", "Active")
				delays(t, 1, `namespace="`+harness.Namespace+`",policy="slow"`)
			},
		},
		"author/many-slow": {
			story: "a team applies ten policies, each of which takes its time for each of thirty NodePools", want: "they have the time of one policy, pods get nodes", keeps: keeps, launches: true,
			run: func(t *testing.T) {
				effort := slow(t)
				crowd(t)
				for i := range 10 {
					name := fmt.Sprintf("slow-%02d", i)
					installIn(t, "team-a", name, "hooks: [rank]\n", map[string]string{"p.rego": busy(effort)})
				}
				until(t, "the policies to be asked", func(ctx context.Context) (string, bool) {
					states, err := metric(ctx, "spokeshave_policy_state", `namespace="team-a"`)
					return fmt.Sprint(states, err), err == nil && states >= 10
				})
				delays(t, 10, `namespace="team-a"`)
			},
		},
		"author/fills-the-process": {
			story: "a team applies six policies with as much data as fits, to fill the process that all policies share", want: "what is more than its share is rejected, and says so",
			keeps: "the process that answers, answers of other policies", launches: true,
			run: func(t *testing.T) {
				restarts := number(t, "spokeshave_policy_process_restarts_total", "")
				for i := range 6 {
					data := "{\"numbers\": [" + strings.Repeat("1,", 120_000) + "1]}"
					installIn(t, "team-a", fmt.Sprintf("full-%d", i), "hooks: [rank]\n", map[string]string{"p.rego": rank, "data.json": data})
				}
				until(t, "policies to be rejected", func(ctx context.Context) (string, bool) {
					active, err := metric(ctx, "spokeshave_policy_state", `namespace="team-a",policy="full-`)
					rejected, failed := metric(ctx, "spokeshave_policy_state", `state="Rejected"`)
					return fmt.Sprint(active, err, rejected, failed), active == 6 && rejected >= 3
				})
				serve(t)
				if now := number(t, "spokeshave_policy_process_restarts_total", ""); now != restarts {
					t.Errorf("the process that answers was started again %v times", now-restarts)
				}
			},
		},
	}
}

// busy is a rank policy with no opinion that takes time in proportion to effort.
func busy(effort int) string {
	return fmt.Sprintf("package spokeshave.rank\nexclude contains \"x\" if { some i in numbers.range(1, %d + input.pool.pendingPods); i * i == -7 }\n", effort)
}

// slow returns an effort with which a question takes at least 150 ms, by what the controller
// measures here.
func slow(t *testing.T) int {
	t.Helper()
	const calls, seconds, of = "spokeshave_policy_calls_total", "spokeshave_policy_duration_seconds_sum", `policy="measured"`
	for effort := 12_800; effort < 1<<20; effort *= 2 {
		took := 0.0
		t.Run(fmt.Sprintf("effort %d", effort), func(t *testing.T) {
			install(t, "measured", "hooks: [rank]\n", map[string]string{"p.rego": busy(effort)})
			status(t, "measured", "Active")
			asked, before := number(t, calls, of), number(t, seconds, of)
			serve(t)
			took = (number(t, seconds, of) - before) / (number(t, calls, of) - asked)
		})
		t.Logf("effort %d: %.3f s a question", effort, took)
		if took > 0.15 {
			return effort
		}
	}
	t.Fatal("no effort is slow")
	return 0
}

// crowd makes thirty NodePools that nobody's pods tolerate.
func crowd(t *testing.T) {
	t.Helper()
	for i := range 30 {
		pool := fmt.Sprintf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: team-a-%02d}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      taints: [{key: team, value: a, effect: NoSchedule}]
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      - {key: karpenter.k8s.aws/instance-category, operator: In, values: [c, m, r]}
`, i)
		write(t, pool)
	}
}

// delays wants pods to get nodes, and the policies with the labels, so many, to take a second of a decision,
// and one of the search for savings, and not much more. Without a bound they would take at least
// 30 times 150 ms.
func delays(t *testing.T, policies int, labels string) {
	t.Helper()
	const name, late = "spokeshave_policy_duration_seconds", "spokeshave_policy_faults_total"
	sum, made, faults := number(t, name+"_sum", labels), number(t, name+"_count", labels), number(t, late, labels)
	serve(t)
	sum, faults = number(t, name+"_sum", labels)-sum, number(t, late, labels)-faults
	made = (number(t, name+"_count", labels) - made) / float64(policies)
	t.Logf("%.2f s in %v decisions, %v questions not asked", sum, made, faults)
	if faults == 0 {
		t.Error("all questions were asked")
	}
	if made == 0 || sum/made > 4 {
		t.Errorf("the policies took %.2f s of %v decisions", sum, made)
	}
}
