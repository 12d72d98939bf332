package app

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// memory is a lease in memory, with the optimistic concurrency of the real one.
type memory struct {
	me     string
	record *resourcelock.LeaderElectionRecord
	// stale makes the next update fail, as after a write by another process.
	stale  bool
	writes int
}

var errConflict = errors.New("conflict")

func (m *memory) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if m.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "x")
	}
	m.stale = false
	r := *m.record
	raw, err := json.Marshal(r)
	return &r, raw, err
}

func (m *memory) Create(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if m.record != nil {
		return errConflict
	}
	m.record = &r
	m.writes++
	return nil
}

func (m *memory) Update(_ context.Context, r resourcelock.LeaderElectionRecord) error {
	if m.record == nil || m.stale {
		return errConflict
	}
	m.record = &r
	m.writes++
	return nil
}

func (m *memory) RecordEvent(string) {}
func (m *memory) Identity() string   { return m.me }
func (m *memory) Describe() string   { return "lease" }

func held(by string, duration time.Duration) *resourcelock.LeaderElectionRecord {
	return &resourcelock.LeaderElectionRecord{HolderIdentity: by, LeaseDurationSeconds: int(duration / time.Second)}
}

func TestLockGet(t *testing.T) {
	tests := map[string]struct {
		reason         string
		own, karpenter *resourcelock.LeaderElectionRecord
		holder         string
		seconds        int
		missing        bool
	}{
		"neither exists":     {"the elector creates what is not found", nil, nil, "", 0, true},
		"fresh":              {"beside a Karpenter that runs, on the first start", nil, held("karpenter", 15*time.Second), "karpenter", 15, false},
		"own released":       {"a released lease lasts a second; Karpenter's own duration counts", held("", time.Second), held("karpenter", 15*time.Second), "karpenter", 15, false},
		"other replica":      {"the other replica leads", held("b", 15*time.Second), held("b", 15*time.Second), "b", 15, false},
		"Karpenter's gone":   {"somebody deleted it while the other replica leads", held("b", 15*time.Second), nil, "b", 15, false},
		"Karpenter released": {"Karpenter was scaled to zero", held("", time.Second), held("", time.Second), "", 1, false},
		"ours":               {"both are ours", held("a", 15*time.Second), held("a", 15*time.Second), "a", 15, false},
		"lost":               {"Karpenter took its lease from us", held("a", 15*time.Second), held("karpenter", 15*time.Second), "karpenter", 15, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := &lock{
				own: singleLease{Interface: &memory{me: "a", record: tt.own}}, karpenter: singleLease{Interface: &memory{me: "a", record: tt.karpenter}},
				log: logr.Discard(),
			}
			got, _, err := l.Get(t.Context())
			if tt.missing {
				if !apierrors.IsNotFound(err) {
					t.Fatalf("%s: got %v, want not found", tt.reason, err)
				}
				return
			}
			if err != nil || got.HolderIdentity != tt.holder || got.LeaseDurationSeconds != tt.seconds {
				t.Errorf("%s: got %+v, %v; want holder %q for %d s", tt.reason, got, err, tt.holder, tt.seconds)
			}
		})
	}
}

func TestLockUpdate(t *testing.T) {
	tests := map[string]struct {
		reason         string
		own, karpenter *resourcelock.LeaderElectionRecord
		race           bool
		ok             bool
		ownWrites      int
	}{
		"neither exists":     {"both are created", nil, nil, false, true, 1},
		"only Karpenter's":   {"the own one is created", nil, held("", time.Second), false, true, 1},
		"only the own":       {"Karpenter's is created, so that it stays away", held("", time.Second), nil, false, true, 1},
		"lost the race":      {"the own lease is left alone", held("", time.Second), held("", time.Second), true, false, 0},
		"both free to renew": {"both are written", held("a", time.Second), held("a", time.Second), false, true, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			own, karpenter := &memory{me: "a", record: tt.own}, &memory{me: "a", record: tt.karpenter}
			l := &lock{own: singleLease{Interface: own}, karpenter: singleLease{Interface: karpenter}, log: logr.Discard()}
			if _, _, err := l.Get(t.Context()); err != nil && !apierrors.IsNotFound(err) {
				t.Fatal(err)
			}
			karpenter.stale = tt.race
			err := l.Update(t.Context(), *held("a", 15*time.Second))
			if (err == nil) != tt.ok || own.writes != tt.ownWrites {
				t.Errorf("%s: got %v and %d writes to the own lease, want success %v and %d", tt.reason, err, own.writes, tt.ok, tt.ownWrites)
			}
			if tt.ok && (own.record.HolderIdentity != "a" || karpenter.record.HolderIdentity != "a") {
				t.Errorf("%s: held by %s and %s", tt.reason, own.record.HolderIdentity, karpenter.record.HolderIdentity)
			}
		})
	}
}
