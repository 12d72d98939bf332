package attack

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/harness"
)

// killed ends a process without asking it.
const killed = syscall.SIGKILL

// leaderAttacks are made by a controller that led, unwillingly.
func leaderAttacks() map[string]attack {
	return map[string]attack{
		"leader/dies-while-launching": {
			story: "the controller is killed while it launches up to a cap, and started again", want: "the cap holds, each instance has one claim", keeps: "the cap of 0.20 $/h, at every moment",
			launches: true, restarts: true, run: diesWhileLaunching,
		},
		"leader/comes-back": {
			story: "the controller's machine hangs, another controller leads and launches, and then the first goes on", want: "the first ends without a launch", launches: true, restarts: true,
			keeps: "one instance a claim, the ledger of the second", run: comesBack,
		},
		"leader/restarts-without-its-cap": {
			story: "the policy of a cap is broken, and the controller is started again", want: "the last good version is restored before anything is launched", launches: true, restarts: true,
			keeps: "the cap of 0.12 $/h", run: func(t *testing.T) {
				install(t, "narrow", "hooks: [ceiling]\n", ceilingOn("namespace/greedy", 0.12))
				status(t, "narrow", "Active")
				until(t, "a copy of the policy", func(ctx context.Context) (string, bool) {
					list := &corev1.ConfigMapList{}
					err := stack.Client.List(ctx, list, client.InNamespace(harness.Namespace), client.MatchingLabels{"spokeshave.dev/policy-copy": "true"})
					for i := range list.Items {
						if list.Items[i].Annotations["spokeshave.dev/copy-of"] == harness.Namespace+"/narrow" {
							return "", true
						}
					}
					return fmt.Sprint(err), false
				})
				apply(t, "narrow", "hooks: {\n", ceilingOn("namespace/greedy", 0.12))
				again(t)
				overrun(t, 12, 0.12, apart)
			},
		},
	}
}

func diesWhileLaunching(t *testing.T) {
	greed(t, 12, apart)
	until(t, "a launch", func(ctx context.Context) (string, bool) {
		left, err := general(ctx)
		return fmt.Sprint(left, err), len(left) > 0
	})
	again(t)
	capHolds(t, greedyCap)
	until(t, "one claim for each instance", stack.Consistent)
}

func comesBack(t *testing.T) {
	thaw, end, err := stack.FreezeController()
	if err != nil {
		t.Fatal(err)
	}
	ended := false
	t.Cleanup(func() {
		if !ended {
			_ = thaw()
		}
	})
	if err := stack.StartController(t.Context()); err != nil {
		t.Fatal(err)
	}
	greed(t, 12, apart)
	capHolds(t, greedyCap)
	month := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`)
	if err := end(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended = true
	holds(t, "the cap", func(ctx context.Context) (string, bool) { return capped(ctx, greedyCap) })
	if now := number(t, "spokeshave_spend_month_to_date_usd", `scope="cluster"`); now < month {
		t.Errorf("the month had cost %v, and has cost %v", month, now)
	}
	until(t, "one claim for each instance", stack.Consistent)
}

// operatorAttacks are the misfortunes of those who run the cluster.
func operatorAttacks() map[string]attack {
	return map[string]attack{
		"operator/no-patch-of-pods": {
			story: "an administrator's admission policy refuses that add-ons patch pods", want: "pods get their nodes all the same", keeps: "launches", launches: true,
			run: func(t *testing.T) { noPatchOfPods(t) },
		},
		"operator/refuses-the-record": {
			story: "an administrator's admission policy refuses all ConfigMaps that the controller writes, and the controller is started again", want: "pods get nodes except under monthly caps, nothing without a claim is ended, and it is told",
			keeps: "launches, a monthly cap, instances", launches: true, restarts: true, run: refusesTheRecord,
		},
		"operator/prunes-admission": {
			story: "a tool prunes the admission policy that keeps others from writing the options of launches, and somebody edits it so that it lets everything through", want: "an event, and the metric of the alert, until it is back", keeps: "launches",
			run: prunesAdmission,
		},
		"operator/api-server-away": {
			story: "the API server is away for fifteen seconds while pods wait", want: "nothing is decided meanwhile, and all of it afterwards", keeps: "instances, caps",
			launches: true, restarts: true, refusals: true, run: apiServerAway,
		},
		"operator/older-etcd": {
			story: "an administrator restores etcd from a snapshot that is older than some nodes", want: "their instances go on, and an event asks what to do with them",
			keeps: "instances that the API server does not know", launches: true, restarts: true, refusals: true, run: olderEtcd,
		},
		"operator/older-etcd-unled": {
			story: "the same while no controller runs, so that the next one reads the older ledger", want: "the same, and the month is in doubt, also after a restart",
			keeps: "instances that the API server does not know, monthly caps", launches: true, restarts: true, refusals: true, run: olderEtcdUnled,
		},
	}
}

func apiServerAway(t *testing.T) {
	greed(t, 12, apart)
	away := func() { time.Sleep(15 * time.Second) } //nolint:forbidigo // longer than the controller's lease lasts
	if err := stack.Cluster.Outage(t.Context(), away); err != nil {
		t.Fatal(err)
	}
	led(t)
	capHolds(t, greedyCap)
	until(t, "one claim for each instance", stack.Consistent)
}

// led starts the controller again if it has ended, as its Deployment would.
func led(t *testing.T) {
	t.Helper()
	until(t, "the controller to lead or to end", func(ctx context.Context) (string, bool) {
		state, leads := stack.Leads(ctx)
		return state, leads || state == "the controller has ended"
	})
	if _, leads := stack.Leads(t.Context()); !leads {
		again(t)
	}
}
