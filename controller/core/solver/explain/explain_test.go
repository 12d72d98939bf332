package explain

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// fake is an offering of a plain instance type.
type fake struct {
	labels           map[string]string
	room             int64
	price            model.Price
	foreign, port    bool
	soldOut          bool
	excluded, denied *Refusal
	reserved         bool // a reservation that is used up
}

func (f *fake) Label(key string) (string, bool) { v, ok := f.labels[key]; return v, ok }
func (f *fake) InPool() bool                    { return !f.foreign }
func (f *fake) Room() (vec.Vector, bool)        { return vec.Vector{f.room}, f.port }
func (f *fake) Available() bool                 { return !f.soldOut }
func (f *fake) Excluded() *Refusal              { return f.excluded }
func (f *fake) Denied() *Refusal                { return f.denied }
func (f *fake) Price() (model.Price, bool)      { return f.price, !f.reserved }

// TestWhy: the reason is the first step that no offering passes.
func TestWhy(t *testing.T) {
	arm := map[string]string{"arch": "arm64"}
	cases := map[string]struct {
		reason    string
		pod       model.PodSpec
		pool      model.Pool
		blocked   *model.Reason
		labels    map[string]string
		offerings []fake
		want      model.Reason
	}{
		"not ready": {
			reason: "a pool that is not ready launches nothing",
			pool:   model.Pool{NotReady: "its NodeClass is not ready"}, offerings: []fake{{room: 9000}},
			want: model.Reason{Code: model.PoolNotReady, Message: "its NodeClass is not ready"},
		},
		"blocked": {
			reason: "what the caller says of the pool comes before its offerings", offerings: []fake{{room: 9000}},
			blocked: &model.Reason{Code: model.CeilingReached, Message: "no money"},
			want:    model.Reason{Code: model.CeilingReached, Message: "no money"},
		},
		"taint": {
			reason: "a taint of the pool", offerings: []fake{{room: 9000}},
			pool: model.Pool{Taints: []model.Taint{{Key: "gpu", Value: "yes", Effect: model.NoSchedule}}},
			want: model.Reason{Code: model.TaintNotTolerated, Message: "taint gpu=yes:NoSchedule is not tolerated"},
		},
		"unselected": {
			reason: "no offering has the label", pod: model.PodSpec{NodeSelector: arm}, offerings: []fake{{room: 9000}},
			want: model.Reason{Code: model.NoInstanceType, Message: `no instance type of NodeClass "default" meets arch=arm64`},
		},
		"own label": {
			reason: "the pool's nodes have another value of a label", pod: model.PodSpec{NodeSelector: map[string]string{"team": "red"}},
			labels: map[string]string{"team": "blue"}, offerings: []fake{{room: 9000, labels: map[string]string{"team": "blue"}}},
			want: model.Reason{Code: model.RequirementsConflict, Message: "the pod asks for team=red, the NodePool's nodes have team=blue"},
		},
		"requirements": {
			reason: "the pool's requirements drop what the pod selects", pod: model.PodSpec{NodeSelector: arm},
			offerings: []fake{{room: 9000, labels: arm, foreign: true}, {room: 9000}},
			want:      model.Reason{Code: model.RequirementsConflict, Message: "the NodePool's requirements exclude every offering that arch=arm64 allows"},
		},
		"port": {
			reason: "a DaemonSet has the port on every node", pod: model.PodSpec{HostPorts: []model.HostPort{{Port: 80, Protocol: "TCP"}}},
			offerings: []fake{{room: 9000, port: true}},
			want:      model.Reason{Code: model.RequirementsConflict, Message: "DaemonSets hold its host port /TCP/80 on every node"},
		},
		"too large": {
			reason: "the largest counts", offerings: []fake{{room: 500}, {room: 1500}},
			want: model.Reason{Code: model.TooLarge, Message: "asks for 2 cpu, the largest matching instance type leaves 1.5 cpu to pods"},
		},
		"sold out": {
			reason: "what is too small does not count", offerings: []fake{{room: 500}, {room: 3000, soldOut: true}, {room: 4000, soldOut: true}},
			want: model.Reason{Code: model.NoCapacity, Message: "all 2 offerings that fit are sold out for now"},
		},
		"excluded": {
			reason: "a rank policy drops what is left", offerings: []fake{{room: 3000, soldOut: true}, {room: 3000, excluded: &Refusal{"green", "too dirty"}}},
			want: model.Reason{Code: model.RankExcluded, Policy: "green", Message: "policy green drops every offering that fits: too dirty"},
		},
		"denied": {
			reason: "a review refused what is left", offerings: []fake{{room: 3000, denied: &Refusal{Policy: "veto"}}},
			want: model.Reason{Code: model.LaunchDenied, Policy: "veto", Message: "policy veto denies the launch"},
		},
		"bound": {
			reason: "the cheapest that may be launched is named", offerings: []fake{{room: 3000, price: 70_000}, {room: 3000, price: 50_000}, {room: 3000, price: 10_000, reserved: true}},
			want: model.Reason{Code: model.LimitReached, Message: "stops at 0.0500"},
		},
		"reserved": {
			reason: "nothing is left of the reservations", offerings: []fake{{room: 3000, reserved: true}},
			want: model.Reason{Code: model.NoCapacity, Message: "nothing left"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.pool.Name, tc.pool.NodeClass, tc.want.Pool = "general", "default", "general"
			pool := Pool{
				Of: &tc.pool, Blocked: tc.blocked, Sells: true, Defines: func(string) bool { return false },
				Variants: []Variant{{
					Labels: tc.labels,
					Offerings: func(yield func(Offering) bool) {
						for i := range tc.offerings {
							if !yield(&tc.offerings[i]) {
								return
							}
						}
					},
					Bound: func(cheapest Offering) model.Reason {
						if cheapest == nil {
							return model.Reason{Code: model.NoCapacity, Message: "nothing left"}
						}
						price, _ := cheapest.Price()
						return model.Reason{Code: model.LimitReached, Message: "stops at " + price.String()}
					},
				}},
			}
			got := Why(&Pod{Spec: &tc.pod, Requests: vec.Vector{2000}, Resources: []string{model.CPU}}, []Pool{pool})
			if diff := cmp.Diff([]model.Reason{tc.want}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestPools: heavy pools come first, then by name; without any there is a reason, too.
func TestPools(t *testing.T) {
	var pools []Pool
	for _, p := range []model.Pool{{Name: "c"}, {Name: "b"}, {Name: "a", Weight: 1}} {
		pools = append(pools, Pool{Of: &p})
	}
	var names []string
	for _, r := range Why(&Pod{Spec: &model.PodSpec{}}, pools) {
		names = append(names, r.Pool)
		if r.Code != model.PoolNotReady {
			t.Errorf("%s sells nothing: %v", r.Pool, r)
		}
	}
	if !slices.Equal(names, []string{"a", "b", "c"}) {
		t.Errorf("the pools come in the order %v", names)
	}
	if got := Why(&Pod{Spec: &model.PodSpec{}}, nil); len(got) != 1 || got[0].Code != model.NoPools {
		t.Errorf("without pools: %v", got)
	}
}

// TestFurthest: of several variants, the one whose offerings come furthest says why.
func TestFurthest(t *testing.T) {
	one := func(f fake) Variant {
		return Variant{Offerings: func(yield func(Offering) bool) { yield(&f) }}
	}
	pool := Pool{Of: &model.Pool{Name: "general"}, Sells: true, Variants: []Variant{
		one(fake{room: 1000}), one(fake{room: 3000, soldOut: true}), one(fake{foreign: true}),
	}}
	got := Why(&Pod{Spec: &model.PodSpec{}, Requests: vec.Vector{2000}, Resources: []string{model.CPU}}, []Pool{pool})
	if len(got) != 1 || got[0].Code != model.NoCapacity {
		t.Errorf("want that it is sold out, got %v", got)
	}
}
