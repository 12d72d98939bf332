package rego

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// kind is the type of an input field.
type kind uint8

const (
	number kind = iota
	text
	labels
	texts
)

// field is a field of one of the input documents. Exactly one of its getters is set,
// depending on its kind.
type field[T any] struct {
	name   string
	key    *ast.Term
	kind   kind
	number func(*T) float64
	text   func(*T) string
	labels func(*T) map[string]string
	texts  func(*T) []string
}

func num[T any](name string, get func(*T) float64) field[T] {
	return field[T]{name: name, key: ast.StringTerm(name), kind: number, number: get}
}

func str[T any](name string, get func(*T) string) field[T] {
	return field[T]{name: name, key: ast.StringTerm(name), kind: text, text: get}
}

func tags[T any](name string, get func(*T) map[string]string) field[T] {
	return field[T]{name: name, key: ast.StringTerm(name), kind: labels, labels: get}
}

func list[T any](name string, get func(*T) []string) field[T] {
	return field[T]{name: name, key: ast.StringTerm(name), kind: texts, texts: get}
}

func offeringFields() []field[policy.RankRow] {
	type row = policy.RankRow
	return []field[row]{
		str("instanceType", func(r *row) string { return r.InstanceType }),
		str("family", func(r *row) string { return r.Family }),
		str("zone", func(r *row) string { return r.Zone }),
		str("capacityType", func(r *row) string { return string(r.CapacityType) }),
		str("arch", func(r *row) string { return r.Arch }),
		num("billed", func(r *row) float64 { return r.Billed }),
		num("cost", func(r *row) float64 { return r.Cost }),
		num("onDemand", func(r *row) float64 { return r.OnDemand }),
		num("vcpu", func(r *row) float64 { return r.VCPU }),
		num("memoryGiB", func(r *row) float64 { return r.MemoryGiB }),
		num("interruption", func(r *row) float64 { return r.Interruption }),
		num("podsFit", func(r *row) float64 { return float64(r.PodsFit) }),
		num("gpus", func(r *row) float64 { return float64(r.GPUs) }),
		num("running", func(r *row) float64 { return float64(r.Running) }),
		num("runningCluster", func(r *row) float64 { return float64(r.RunningCluster) }),
		num("familyOnDemand", func(r *row) float64 { return r.FamilyOnDemand }),
	}
}

func poolFields() []field[policy.PoolFacts] {
	type pool = policy.PoolFacts
	return []field[pool]{
		str("name", func(p *pool) string { return p.Name }),
		tags("labels", func(p *pool) map[string]string { return p.Labels }),
		num("pendingPods", func(p *pool) float64 { return float64(p.PendingPods) }),
		num("pendingCPU", func(p *pool) float64 { return p.PendingCPU }),
		num("pendingMemoryGiB", func(p *pool) float64 { return p.PendingMemoryGiB }),
		num("runningNodes", func(p *pool) float64 { return float64(p.RunningNodes) }),
		num("spotNodes", func(p *pool) float64 { return float64(p.SpotNodes) }),
		num("clusterOnDemand", func(p *pool) float64 { return p.ClusterOnDemand }),
	}
}

func candidateFields() []field[policy.Candidate] {
	type node = policy.Candidate
	return []field[node]{
		str("node", func(c *node) string { return c.Node }),
		str("claim", func(c *node) string { return c.Claim }),
		str("nodePool", func(c *node) string { return c.NodePool }),
		tags("nodePoolLabels", func(c *node) map[string]string { return c.PoolTags }),
		tags("labels", func(c *node) map[string]string { return c.Labels }),
		str("method", func(c *node) string { return c.Method }),
		str("action", func(c *node) string { return c.Action }),
		str("instanceType", func(c *node) string { return c.InstanceType }),
		str("zone", func(c *node) string { return c.Zone }),
		str("capacityType", func(c *node) string { return c.CapacityType }),
		num("price", func(c *node) float64 { return c.Price }),
		num("savings", func(c *node) float64 { return c.Savings }),
		num("pods", func(c *node) float64 { return float64(c.Pods) }),
		num("ageSeconds", func(c *node) float64 { return c.AgeSeconds }),
		num("idleSeconds", func(c *node) float64 { return c.IdleSeconds }),
		num("cpuUtilisation", func(c *node) float64 { return c.CPUUtilisation }),
		num("memoryUtilisation", func(c *node) float64 { return c.MemoryUtilisation }),
		num("cost", func(c *node) float64 { return c.Cost }),
		num("jobPods", func(c *node) float64 { return float64(c.JobPods) }),
		num("sinceDisruption", func(c *node) float64 { return c.SinceDisruption }),
		num("poolEvictions", func(c *node) float64 { return float64(c.PoolEvictions) }),
		num("clusterEvictions", func(c *node) float64 { return float64(c.ClusterEvictions) }),
		num("moveCost", func(c *node) float64 { return c.MoveCost }),
	}
}

func launchFields() []field[policy.Launch] {
	type node = policy.Launch
	return []field[node]{
		str("nodePool", func(l *node) string { return l.NodePool }),
		tags("nodePoolLabels", func(l *node) map[string]string { return l.PoolTags }),
		str("instanceType", func(l *node) string { return l.InstanceType }),
		str("family", func(l *node) string { return l.Family }),
		str("zone", func(l *node) string { return l.Zone }),
		str("capacityType", func(l *node) string { return l.CapacityType }),
		num("price", func(l *node) float64 { return l.Price }),
		num("worstPrice", func(l *node) float64 { return l.WorstPrice }),
		num("onDemand", func(l *node) float64 { return l.OnDemand }),
		num("vcpu", func(l *node) float64 { return l.VCPU }),
		num("memoryGiB", func(l *node) float64 { return l.MemoryGiB }),
		num("gpus", func(l *node) float64 { return float64(l.GPUs) }),
		num("pods", func(l *node) float64 { return float64(l.Pods) }),
		list("namespaces", func(l *node) []string { return l.Namespaces }),
	}
}

func spendFields() []field[policy.ScopeSpend] {
	type scope = policy.ScopeSpend
	return []field[scope]{
		str("scope", func(s *scope) string { return s.Scope }),
		num("runningUSD", func(s *scope) float64 { return s.RunningUSD }),
		num("inFlightUSD", func(s *scope) float64 { return s.InFlightUSD }),
		num("monthToDateUSD", func(s *scope) float64 { return s.MonthToDateUSD }),
		num("nodes", func(s *scope) float64 { return float64(s.Nodes) }),
	}
}

// object makes an input document of the given fields.
func object[T any](fields []field[T], of *T) (*ast.Term, error) {
	pairs := make([][2]*ast.Term, len(fields))
	for i := range fields {
		value, err := fields[i].term(of)
		if err != nil {
			return nil, err
		}
		pairs[i] = [2]*ast.Term{fields[i].key, value}
	}
	return ast.NewTerm(ast.NewObject(pairs...)), nil
}

func (f *field[T]) term(of *T) (*ast.Term, error) {
	switch f.kind {
	case number:
		v := f.number(of)
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s is not a finite number", f.name)
		}
		return numberTerm(v), nil
	case text:
		return ast.StringTerm(f.text(of)), nil
	case labels:
		own := f.labels(of)
		pairs := make([][2]*ast.Term, 0, len(own))
		for _, key := range slices.Sorted(maps.Keys(own)) {
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(key), ast.StringTerm(own[key])})
		}
		return ast.NewTerm(ast.NewObject(pairs...)), nil
	case texts:
		own := f.texts(of)
		terms := make([]*ast.Term, len(own))
		for i, s := range own {
			terms[i] = ast.StringTerm(s)
		}
		return ast.NewTerm(ast.NewArray(terms...)), nil
	}
	return nil, fmt.Errorf("%s is of no known kind", f.name)
}

// numberTerm writes whole numbers as integers and others with the fewest digits.
func numberTerm(v float64) *ast.Term {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return ast.IntNumberTerm(int(v))
	}
	return ast.NewTerm(ast.Number(strconv.FormatFloat(v, 'g', -1, 64)))
}
