package restart

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// TestPriceChange: between the decision and its end the prices change, so that
// nothing would be saved any more. The node stays, and what was launched in its
// stead goes.
func TestPriceChange(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	t.Parallel()
	cases := map[string]struct {
		reason string
		typ    string
		price  model.Price
	}{
		"risen":  {reason: "the replacement has become dearer than what it replaces", typ: small, price: 500_000},
		"fallen": {reason: "what goes has become cheaper than its replacement", typ: large, price: 50_000},
	}
	w := newCluster(t)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w.cloud.SetCatalog("default", catalog())
			l := w.live(t, nil)
			old := "old-" + name
			w.claim(t, old)
			w.until(t, "a large node", func(ctx context.Context) (bool, error) {
				if err := w.machines(ctx); err != nil {
					return false, err
				}
				up, _, err := w.nodes(ctx)
				return up == 1, err
			})
			if err := w.pod(t.Context(), "node-"+old); err != nil {
				t.Fatal(err)
			}
			w.until(t, "a replacement to be launched", func(ctx context.Context) (bool, error) {
				_ = l.round(ctx) // a round that fails is made again
				var claims karpv1.NodeClaimList
				err := w.client.List(ctx, &claims)
				return len(claims.Items) == 2, err
			})
			changed := catalog()
			for i := range changed.Types {
				if changed.Types[i].Name == tc.typ {
					changed.Types[i].Offerings[0].Price = tc.price
				}
			}
			w.cloud.SetCatalog("default", changed)
			w.until(t, "the old node alone", func(ctx context.Context) (bool, error) {
				_ = l.round(ctx)
				if err := w.machines(ctx); err != nil {
					return false, err
				}
				up, smalls, err := w.nodes(ctx)
				return up == 1 && smalls == 0 && w.running() == 1, err
			})
			claim := &karpv1.NodeClaim{}
			if err := w.client.Get(t.Context(), client.ObjectKey{Name: old}, claim); err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if claim.Annotations[karpv1.AnnotationUndone] == "" || claim.Annotations[karpv1.AnnotationDisruption] != "" {
				t.Errorf("%s: annotations %v", tc.reason, claim.Annotations)
			}
			if err := taken(l, "prices have changed"); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
			w.clear(t)
			l.stop()
		})
	}
}

// taken looks for a command in the journal that was taken back for the reason.
func taken(l *life, reason string) error {
	for _, d := range l.loop.Journal.Entries() {
		for i := range d.Commands {
			if strings.Contains(d.Commands[i].Reason, reason) {
				return nil
			}
		}
	}
	return errors.New("no decision says that " + reason)
}
