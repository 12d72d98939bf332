// Package echo is a policy that uses all of sdk/policy: its answers depend on
// every field of every row. The guests in the other languages beside it do the
// same, and the test compares what they leave, byte for byte.
package echo

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/sdk/policy"
)

// settings are the policy's configuration.
type settings struct {
	factor      float64
	label       string
	loud, plain bool
	avoid       []string
	weights     map[string]float64
}

var config settings //nolint:gochecknoglobals // a policy's state lives in its module

// Registered keeps the registrations, which run when the package is loaded.
var _ = []policy.Registration{
	policy.Configure(configure), policy.Rank(rank), policy.Consolidate(consolidate), policy.Ceiling(ceiling),
}

func configure(c *policy.Config) error {
	config = settings{
		factor: c.Float("factor", 1.5), label: c.String("label", "team"),
		loud: c.Bool("loud", false), plain: c.Bool("plain", false),
		avoid: c.Strings("avoid"), weights: c.Floats("weights"),
	}
	if config.factor <= 0 {
		return errors.New("config.factor: not positive")
	}
	return nil
}

// sum adds terms without fusing them: the answer must not depend on the machine.
func sum(terms ...float64) float64 {
	var s float64
	for _, t := range terms {
		s += t
	}
	return s
}

func price(o *policy.Offering) float64 {
	pods := float64(max(o.PodsFit, 1))
	eff := o.Cost / pods
	if o.CapacityType == 2 {
		eff *= 1 + float64(config.factor*o.Interruption)
	}
	cpu := max(0, (o.VCPU-float64(pods*0.5))/o.VCPU)
	memory := max(0, (o.MemoryGiB-float64(pods*2))/o.MemoryGiB)
	eff *= 1 + float64(0.5*cpu) + float64(0.5*memory)
	if o.GPUs > 0 {
		eff *= 4
	}
	return eff
}

func rank(pool *policy.Pool, rows policy.Rows, out policy.Verdicts) {
	if config.plain {
		for i := range rows.Len() {
			out.Score(i, price(rows.At(i)))
		}
		return
	}
	switch pool.Name() {
	case "silent":
		pool.NoOpinion()
	case "broken":
		pool.Fail("broken as asked")
	}
	for i := range rows.Len() {
		o := rows.At(i)
		s := sum(o.Billed, 2*o.Cost, 3*o.OnDemand, 5*o.VCPU, 7*o.MemoryGiB, 11*o.Interruption)
		s += sum(13*float64(o.PodsFit), 17*float64(o.GPUs), 19*float64(o.Running), 23*float64(o.CapacityType), 29*float64(o.Arch), float64(o.Flags))
		s += sum(31*o.FamilyOnDemand, 37*float64(o.RunningCluster))
		if i == 0 {
			s += sum(pool.PendingCPU(), pool.PendingMemoryGiB(), float64(pool.PendingPods()), float64(pool.RunningNodes()))
			s += sum(2*float64(pool.SpotNodes()), pool.ClusterOnDemand())
			s += sum(float64(pool.Seed()%97), float64(pool.Time().Unix()%1000))
		}
		s += float64(len(rows.InstanceType(i)))
		weight, ok := config.weights[rows.Family(i)]
		if !ok {
			weight = 1
		}
		out.Score(i, s*config.factor*weight)
		switch {
		case slices.Contains(config.avoid, rows.Family(i)):
			out.Exclude(i, "family to avoid")
		case strings.HasSuffix(rows.Zone(i), "b"):
			value, _ := pool.Labels().Get(config.label)
			out.MaxNodes(i, o.PodsFit+1)
			out.Group(i, 7)
			out.Reason(i, value)
		case o.Arch == 2:
			out.MaxNodes(i, 9)
			out.SharedGroup(i, 3)
			out.Reason(i, rows.InstanceType(i))
		}
	}
}

func consolidate(candidates policy.Candidates, out policy.Permissions) {
	for i := range candidates.Len() {
		c := candidates.At(i)
		s := sum(c.Price, 2*c.Savings, 3*c.AgeSeconds, 5*c.IdleSeconds, 7*c.CPUUtilisation)
		s += sum(11*c.MemoryUtilisation, 13*c.Cost, 17*float64(c.Pods), 19*float64(c.Method), 23*float64(c.Action), 29*float64(c.CapacityType))
		s += sum(31*float64(c.JobPods), 37*c.SinceDisruption, 41*float64(c.PoolEvictions), 43*float64(c.ClusterEvictions), 47*c.MoveCost)
		s += sum(float64(len(candidates.Node(i))), 2*float64(len(candidates.Text(c.Claim))), 3*float64(len(candidates.NodePool(i))))
		s += sum(5*float64(len(candidates.Text(c.Type))), 7*float64(len(candidates.Text(c.Zone))))
		out.Cost(i, s*config.factor)
		value, ok := candidates.Labels(i).Get(config.label)
		switch {
		case !ok:
			out.Deny(i, "no label")
		case value == "hold":
			why, _ := candidates.PoolLabels(i).Get("why")
			out.Hold(i, c.AgeSeconds/2, why)
		default:
			out.Allow(i)
		}
	}
}

func limit(scopes policy.Scopes, out policy.Caps) {
	for i := range scopes.Len() {
		s := scopes.At(i)
		if strings.HasPrefix(scopes.Name(i), "nodepool/") {
			out.Hourly(i, s.Running+s.InFlight+float64(s.Nodes))
		}
		if s.MonthToDate > 0 {
			out.Monthly(i, config.factor*s.MonthToDate)
		}
		if config.loud {
			out.Soft(i)
		}
		if s.Nodes > 5 {
			out.SoftHourly(i, s.Running/2)
		}
		if s.MonthToDate > 1 {
			out.SoftMonthly(i, s.MonthToDate)
		}
	}
}

func ceiling(scopes policy.Scopes, launches policy.Launches, out policy.Caps) {
	limit(scopes, out)
	for i := range launches.Len() {
		l := launches.At(i)
		s := sum(l.Price, 2*l.WorstPrice, 3*l.OnDemand, 5*l.VCPU, 7*l.MemoryGiB)
		s += sum(11*float64(l.GPUs), 13*float64(l.Pods), 17*float64(l.CapacityType))
		s += sum(float64(len(launches.NodePool(i))), 2*float64(len(launches.Text(l.Type))), 3*float64(len(launches.Text(l.Family))), 5*float64(len(launches.Text(l.Zone))))
		if s > 500 {
			out.Deny(i, "sum "+strconv.FormatFloat(s, 'f', 2, 64))
		}
		namespaces := launches.Namespaces(i)
		for k := range namespaces.Len() {
			if ns, _ := namespaces.At(k); ns == "kube-system" {
				out.Deny(i, "system")
			}
		}
		if value, ok := launches.PoolLabels(i).Get(config.label); ok {
			out.Deny(i, value)
		}
	}
}
