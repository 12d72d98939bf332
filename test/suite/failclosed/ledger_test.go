package failclosed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/reconcile/ledger"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/brokenpolicy"
)

// books is the ledger of a controller, on a real API server.
type books struct {
	client    client.Client
	namespace string
	clock     *clocktesting.FakeClock
	tracker   *ledger.Tracker
}

// library makes a ledger in a namespace of its own for each cell.
type library struct {
	client client.Client
	opened int
}

// open returns a ledger that has counted a node, and is certain.
func (l *library) open(t *testing.T) *books {
	t.Helper()
	l.opened++
	b := &books{client: l.client, namespace: fmt.Sprint("books-", l.opened), clock: clocktesting.NewFakeClock(time.Now())}
	if err := b.client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}); err != nil {
		t.Fatal(err)
	}
	b.restart()
	b.count(t, empty(b.clock.Now())) // no decision has launched its node: there need be no ledger yet
	return b
}

// restart replaces the controller by another one, which has counted nothing yet.
func (b *books) restart() {
	b.tracker = &ledger.Tracker{
		Client: b.client, Live: b.client, Events: events.NewFakeRecorder(10), Namespace: b.namespace, Clock: b.clock, ClockTolerance: 2 * time.Minute,
	}
}

func (b *books) count(t *testing.T, s *model.Snapshot) {
	t.Helper()
	if err := b.tracker.Count(t.Context(), s); err != nil {
		t.Fatal(err)
	}
}

func (b *books) delete(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := b.client.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: b.namespace, Name: name}}); err != nil {
			t.Fatal(err)
		}
	}
}

// setting is a policy with a monthly cap that is not reached, or with an opinion about
// nothing, beside this ledger, whose doubt must say why; "" for none.
func (b *books) setting(k brokenpolicy.Kind, name, why string) setting {
	never := map[policy.Hook]string{
		policy.HookRank: rule(k.Hook, "input.offering.billed < 0"), policy.HookConsolidate: rule(k.Hook, "input.candidate.pods < 0"),
		policy.HookCeiling: `cap["cluster"] := {"monthly_usd": 1000000}`,
	}[k.Hook]
	return setting{
		name: name, revisions: one(k.Rego(never)), now: b.clock.Now(),
		count: func(ctx context.Context, s *model.Snapshot) error {
			if err := b.tracker.Count(ctx, s); err != nil {
				return err
			}
			if (why == "") != (s.SpentDoubt == "") || !strings.Contains(s.SpentDoubt, why) {
				return fmt.Errorf("doubt %q, want %q", s.SpentDoubt, why)
			}
			return nil
		},
	}
}

// TestLedger: what follows when what has been spent is not known, from the records on the
// API server to the decision.
func TestLedger(t *testing.T) {
	l := library{client: apiserver.Start(t).Client(t)}
	lost := func(why string, names ...string) func(brokenpolicy.Kind) []setting {
		return func(k brokenpolicy.Kind) []setting {
			b := l.open(t)
			b.delete(t, names...)
			b.clock.Step(time.Minute)
			b.restart()
			ours := empty(b.clock.Now())
			ours.Nodes[0].Bought = &model.Bought{Price: ours.Nodes[0].Price}
			b.count(t, ours)
			return []setting{b.setting(k, "deleted", why)}
		}
	}
	prove(t, "TestLedger", rows{
		"the ledger is lost, and so is the earlier one":    lost("the ledger is missing", ledger.Name, ledger.PreviousName),
		"the ledger is lost, and the earlier one is there": lost("", ledger.Name),
		"the clock is wrong": func(k brokenpolicy.Kind) []setting {
			var out []setting
			for _, by := range []time.Duration{time.Hour, -time.Hour} {
				b := l.open(t)
				b.clock.Step(by)
				out = append(out, b.setting(k, by.String(), "the clock of the controller's machine differs"))
			}
			return out
		},
	})
}
