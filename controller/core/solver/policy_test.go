package solver

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
)

// rate makes costs for a pool's catalogue from a function of type and offering.
func rate(s *model.Snapshot, f func(t *model.InstanceType, o *model.Offering) supply.Effective) []supply.Costs {
	out := make([]supply.Costs, len(s.Pools))
	for p := range s.Pools {
		types := s.Catalogs[s.Pools[p].Catalog].Types
		out[p] = make(supply.Costs, len(types))
		for t := range types {
			out[p][t] = make([]supply.Effective, len(types[t].Offerings))
			for o := range types[t].Offerings {
				out[p][t][o] = f(&types[t], &types[t].Offerings[o])
			}
		}
	}
	return out
}

func budgetOf(usd float64) model.Headroom {
	return model.Headroom{Scope: "cluster", Left: model.PriceOf(usd), Policy: "budget"}
}

func TestPolicies(t *testing.T) {
	cases := map[string]struct {
		reason string
		setup  func(in *Input, s *model.Snapshot)
		want   []string
	}{
		"EffectiveCostDecides": {
			reason: "a rank policy prefers zone b, whatever it costs",
			setup: func(in *Input, s *model.Snapshot) {
				in.Costs = rate(s, func(_ *model.InstanceType, o *model.Offering) supply.Effective {
					if o.Zone == "b" {
						return supply.Effective{Tiers: []supply.Tier{{Cost: 0.01}}}
					}
					return supply.Effective{}
				})
				pending(in, 1, 1000, 1)
			},
			want: []string{"general m.large b on-demand <- a"},
		},
		"ReservedRunsOut": {
			reason: "a reservation of two takes two nodes, the third is bought on demand; a pod may ask for the reservation",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = nil
				for t := range s.Catalogs[0].Types {
					typ := &s.Catalogs[0].Types[t]
					if typ.Name == "m.large" {
						typ.Offerings = append(typ.Offerings, model.Offering{
							Zone: "b", CapacityType: model.Reserved, Price: 1, Available: true,
							Reservation: &model.Reservation{Free: 2, ID: "cr-1", Type: "default"},
						})
					} else {
						typ.Offerings = nil
					}
				}
				pending(in, 2, 1500, 1)
				pending(in, 1, 1500, 1, func(p *model.PodSpec) {
					p.NodeSelector = map[string]string{"karpenter.k8s.aws/capacity-reservation-id": "cr-1"}
				})
				pending(in, 1, 1500, 1, func(p *model.PodSpec) {
					p.NodeSelector = map[string]string{"karpenter.k8s.aws/capacity-reservation-id": "cr-2"}
				})
			},
			want: []string{
				`d: general NoInstanceType: no instance type of NodeClass "default" meets karpenter.k8s.aws/capacity-reservation-id=cr-2`,
				"general m.large a spot <- b",
				"general m.large b reserved <- a",
				"general m.large b reserved <- c",
			},
		},
		"ReservedUsedUp": {
			reason: "a pool that only draws on a reservation leaves pods over, and says why",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"reserved"}}}
				typ := &s.Catalogs[0].Types[0]
				typ.Offerings = append(typ.Offerings, model.Offering{
					Zone: "b", CapacityType: model.Reserved, Price: 1, Available: true, Reservation: &model.Reservation{Free: 1},
				})
				pending(in, 2, 1500, 1)
			},
			want: []string{
				"b: general NoCapacity: the capacity reservations that fit are used up",
				"general m.large b reserved <- a",
			},
		},
		"TiesByBilledPrice": {
			reason: "offerings of one effective cost are ordered by what they bill",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = nil
				in.Costs = rate(s, func(*model.InstanceType, *model.Offering) supply.Effective {
					return supply.Effective{Tiers: []supply.Tier{{Cost: 1}}}
				})
				pending(in, 1, 1000, 1)
			},
			want: []string{"general a.large a spot <- a"},
		},
		"Excluded": {
			reason: "dropped offerings are not planned, and the reason says by whom",
			setup: func(in *Input, s *model.Snapshot) {
				in.Costs = rate(s, func(typ *model.InstanceType, _ *model.Offering) supply.Effective {
					return supply.Effective{Excluded: typ.Name != "m.large", Policy: "no-giants", Reason: "too large for us"}
				})
				pending(in, 1, 1000, 1)
				pending(in, 1, 3000, 1)
			},
			want: []string{"b: general RankExcluded: policy no-giants drops every offering that fits: too large for us", "general m.large a on-demand <- a"},
		},
		"Tiers": {
			reason: "a commitment covers one large node; the second is cheapest elsewhere",
			setup: func(in *Input, s *model.Snapshot) {
				in.Costs = rate(s, func(typ *model.InstanceType, o *model.Offering) supply.Effective {
					if typ.Name == "m.large" && o.Zone == "b" {
						return supply.Effective{Tiers: []supply.Tier{{Until: 1, Cost: 0}, {Cost: 0.5}}}
					}
					return supply.Effective{}
				})
				pending(in, 2, 1500, 1)
			},
			want: []string{"general m.large a on-demand <- b", "general m.large b on-demand <- a"},
		},
		"Group": {
			reason: "one commitment covers a node of either zone, once",
			setup: func(in *Input, s *model.Snapshot) {
				in.Costs = rate(s, func(typ *model.InstanceType, _ *model.Offering) supply.Effective {
					if typ.Name == "m.large" {
						return supply.Effective{Tiers: []supply.Tier{{Cost: 0, Shares: []supply.Share{{Group: 7, Part: 1}}}, {Cost: 0.5}}}
					}
					return supply.Effective{}
				})
				pending(in, 2, 1500, 1)
			},
			want: []string{"general m.large a on-demand <- a", "general m.xlarge a on-demand <- b"},
		},
		"Denied": {
			reason: "a refused launch is avoided, another zone will do",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Denied = []model.Denied{{Pool: 0, InstanceType: "m.large", Zone: "a", CapacityType: model.OnDemand, Policy: "review", Reason: "no"}}
				pending(in, 1, 1000, 1)
			},
			want: []string{"general m.large b on-demand <- a"},
		},
		"DeniedAltogether": {
			reason: "and when all are refused the reason names the policy",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Denied = []model.Denied{{Pool: 0, Policy: "review", Reason: "freeze"}}
				pending(in, 1, 1000, 1)
			},
			want: []string{"a: general LaunchDenied: policy review denies the launch: freeze"},
		},
		"Blocked": {
			reason: "a pool that must not launch says why",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Blocked = []*model.Reason{{Code: model.PolicyUnavailable, Policy: "budget", Message: "policy budget gave no answer"}}
				pending(in, 1, 1000, 1)
			},
			want: []string{"a: general PolicyUnavailable: policy budget gave no answer"},
		},
		"CeilingSmallerNodes": {
			reason: "0.25 $/h buy no 2xlarge, but an xlarge, which holds two of three pods",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Headroom = []model.Headroom{budgetOf(0.25)}
				pending(in, 3, 2000, 1)
			},
			want: []string{
				"c: general CeilingReached: cap budget on cluster leaves 0.0500 $/h, cheapest fitting offering 0.1000 $/h (m.large, a, on-demand)",
				"general m.xlarge a on-demand <- ab",
			},
		},
		"CeilingCountsVolumes": {
			reason: "0.25 $/h buy an xlarge and its volume, and neither a second node nor a cap of 0.2",
			setup: func(in *Input, s *model.Snapshot) {
				s.Catalogs[0].NodeCost = 20_000
				in.Headroom = []model.Headroom{budgetOf(0.25)}
				pending(in, 3, 2000, 1)
			},
			want: []string{
				"c: general CeilingReached: cap budget on cluster leaves 0.0300 $/h, cheapest fitting offering 0.1000 $/h and 0.0200 $/h for volumes and address (m.large, a, on-demand)",
				"general m.xlarge a on-demand <- ab",
			},
		},
		"CeilingCheaperInMoney": {
			reason: "rank prefers on-demand, the ceiling only allows spot: cheaper before giving up",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Requirements = nil
				in.Headroom = []model.Headroom{budgetOf(0.13)}
				in.Costs = rate(s, func(_ *model.InstanceType, o *model.Offering) supply.Effective {
					if o.CapacityType == model.OnDemand {
						return supply.Effective{Tiers: []supply.Tier{{Cost: 0.001}}}
					}
					return supply.Effective{}
				})
				pending(in, 2, 4000, 1)
			},
			want: []string{"general m.2xlarge a spot <- ab"},
		},
		"CeilingByPriority": {
			reason: "scarce headroom serves the urgent pod, though the other comes first and is larger",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Headroom = []model.Headroom{budgetOf(0.2)}
				pending(in, 1, 4000, 1)
				pending(in, 1, 3000, 1, priority(100))
			},
			want: []string{
				"a: general CeilingReached: cap budget on cluster leaves 0.0000 $/h, cheapest fitting offering 0.2000 $/h (m.xlarge, a, on-demand)",
				"general m.xlarge a on-demand <- b",
			},
		},
		"CeilingOfOnePool": {
			reason: "a pool without headroom leaves its pods to others",
			setup: func(in *Input, s *model.Snapshot) {
				s.Pools[0].Weight = 5
				s.Pools = append(s.Pools, model.Pool{Name: "other", Requirements: s.Pools[0].Requirements})
				in.Headroom = []model.Headroom{{Scope: "nodepool/general", Pools: []bool{true, false}, Left: 0, Policy: "budget"}}
				pending(in, 1, 1000, 1)
			},
			want: []string{"other m.large a on-demand <- a"},
		},
		"LeftoversOfUrgentNodes": {
			reason: "what an urgent pod's node has left over is free for others",
			setup: func(in *Input, _ *model.Snapshot) {
				in.Headroom = []model.Headroom{budgetOf(0.2)}
				pending(in, 2, 1500, 1)
				pending(in, 1, 2500, 1, priority(100))
			},
			want: []string{
				"b: general CeilingReached: cap budget on cluster leaves 0.0000 $/h, cheapest fitting offering 0.1000 $/h (m.large, a, on-demand)",
				"general m.xlarge a on-demand <- ca",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Snapshot: smallCluster(), Effort: DefaultEffort, Tolerance: DefaultTolerance}
			tc.setup(&in, in.Snapshot)
			plan, _ := Solve(in)
			if diff := cmp.Diff(tc.want, outline(in.Snapshot, &plan)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
				t.Error(v)
			}
		})
	}
}

// TestOptions looks at everything that a planned node may be launched as.
func TestOptions(t *testing.T) {
	solve := func(tolerance float64, most int, headroom float64) []model.Option {
		in := Input{Snapshot: smallCluster(), Tolerance: tolerance, MaxOptions: most}
		in.Snapshot.Pools[0].Requirements = nil
		if headroom > 0 {
			in.Headroom = []model.Headroom{budgetOf(headroom)}
		}
		pending(&in, 1, 1000, 1)
		plan, _ := Solve(in)
		return plan.Nodes[0].Options
	}
	option := func(typ, zone string, ct model.CapacityType, price float64) model.Option {
		return model.Option{InstanceType: typ, Zone: zone, CapacityType: ct, Price: model.PriceOf(price), Effective: model.PriceOf(price).USD()}
	}
	arm, amd := option("a.large", "a", model.Spot, 0.024), option("m.large", "a", model.Spot, 0.03)
	armB := option("a.large", "b", model.Spot, 0.04)
	cases := map[string]struct {
		reason    string
		tolerance float64
		most      int
		headroom  float64
		want      []model.Option
	}{
		"NoTolerance":  {reason: "only ties", want: []model.Option{arm}},
		"Tolerance":    {reason: "a quarter more is still offered, in order of cost", tolerance: 0.25, want: []model.Option{arm, amd}},
		"More":         {reason: "another zone is two thirds dearer", tolerance: 0.7, want: []model.Option{arm, amd, armB}},
		"Most":         {reason: "the number of options is bounded", tolerance: 100, most: 2, want: []model.Option{arm, amd}},
		"TightCeiling": {reason: "a ceiling counts the dearest option: those beyond it go", tolerance: 0.7, headroom: 0.03, want: []model.Option{arm, amd}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, solve(tc.tolerance, tc.most, tc.headroom)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}
