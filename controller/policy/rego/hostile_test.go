package rego_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/rego"
)

// TestHostile runs policies that would go on for ever, or take all memory:
// each is refused at load, falls at its limit, or is harmless after all. The
// engine answers the next policy at once.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	cases := map[string]string{
		"loop":            `deny contains "x" if { some i in numbers.range(1, 100000000); some j in numbers.range(1, 100000000); i * j == input.candidate.pods - 7 }`,
		"comprehension":   `deny contains "x" if { count([i | some i in numbers.range(1, 100000000); i > input.candidate.pods]) < 5 }`,
		"product":         `deny contains "x" if { count([1 | some a in numbers.range(1, 3000); some b in numbers.range(1, 3000); a * b > input.candidate.pods]) < 5 }`,
		"walk":            `deny contains "x" if { big := [[i, j] | some i in numbers.range(1, 1000); some j in numbers.range(1, 1000)]; walk(big, [p, v]); v == input.candidate.node; count(p) > 5 }`,
		"big number":      `deny contains "x" if { input.candidate.pods + 1e999999999 > 0 }`,
		"bigger number":   `deny contains "x" if { to_number("1e999999999") % (input.candidate.pods + 2) == 1 }`,
		"rounded":         `deny contains "x" if { floor(1e999999999 + input.candidate.pods) > 7 }`,
		"squares":         `deny contains "x" if { product([input.candidate.pods + 99999999999 | some i in numbers.range(1, 1000000)]) == 7 }`,
		"long text":       `deny contains "x" if { s := concat("", ["abcdefgh" | some i in numbers.range(1, 10000000)]); contains(s, input.candidate.node) }`,
		"replaced":        `deny contains "x" if { s := concat("", ["a" | some i in numbers.range(1, 20000)]); t := replace(s, "a", s); u := replace(t, "a", s); contains(u, input.candidate.node) }`,
		"many reasons":    `deny contains sprintf("%d", [i]) if { some i in numbers.range(1, 10000000); i > input.candidate.pods }`,
		"long reason":     `deny contains s if { s := concat("", ["abcdefgh" | some i in numbers.range(1, 10000)]); input.candidate.pods >= 0 }`,
		"odd reason":      `deny contains "a\u0000b\nc` + "\xff" + `" if input.candidate.pods >= 0`,
		"union":           `deny contains "x" if { count(object.union_n([{i: i} | some i in numbers.range(1, 3000000)])) == input.candidate.pods }`,
		"splits":          `deny contains "x" if { count(split(concat("", ["a" | some i in numbers.range(1, 3000000)]), "")) == input.candidate.pods }`,
		"expression":      `deny contains "x" if { s := concat("", ["a" | some i in numbers.range(1, 100000)]); regex.match("(a{0,900}){0,1}b", concat(s, [input.candidate.node, s])) }`,
		"format":          `deny contains format_int(1e999999, 2) if input.candidate.pods >= 0`,
		"load":            `x := count([1 | some i in numbers.range(1, 100000000); i < 0])` + "\n" + `deny contains "x" if { x == input.candidate.pods }`,
		"nested products": `deny contains "x" if { some a in data.config.list; some b in data.config.list; some c in data.config.list; some d in data.config.list; sprintf("%d%d%d%d", [a, b, c, d]) == input.candidate.node }`,
	}
	for name, source := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			src := &policy.Source{
				Info:   policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookConsolidate}},
				Files:  map[string]string{"p.rego": "package spokeshave.consolidate\n" + source},
				Config: []byte(`{"list": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}`),
				Limits: policy.Limits{Deadline: 100 * time.Millisecond, Memory: 64 << 20},
			}
			p, err := new(rego.Engine).Compile(t.Context(), src)
			if err != nil {
				t.Log("refused: ", strings.Split(err.Error(), "\n")[0])
				return
			}
			got, err := p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}})
			runtime.ReadMemStats(&after)
			t.Logf("%v (allocated %d MiB)", err, (after.TotalAlloc-before.TotalAlloc)>>20)
			var fault *policy.Fault
			if err != nil && !errors.As(err, &fault) {
				t.Errorf("not a fault: %v", err)
			}
			if err == nil && (len(got[0].Reason) > 512 || strings.ContainsFunc(got[0].Reason, func(r rune) bool { return r < ' ' })) {
				t.Errorf("a reason of %d bytes: %q", len(got[0].Reason), got[0].Reason)
			}
		})
	}
}

// TestStopped: a policy that does not end is stopped at its deadline, by the
// caller at once, and switched off after three faults in a row.
func TestStopped(t *testing.T) {
	src := &policy.Source{
		Info:   policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookConsolidate}},
		Files:  map[string]string{"p.rego": "package spokeshave.consolidate\ndeny contains \"x\" if { some i in numbers.range(1, 3000); some j in numbers.range(1, 3000); some k in numbers.range(1, 1000); i * j * k == 0 - input.candidate.pods - 1 }"},
		Limits: policy.Limits{Deadline: 30 * time.Millisecond},
	}
	p, err := new(rego.Engine).Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	in := &policy.ConsolidateInput{Call: moment, Candidates: make([]policy.Candidate, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Consolidate(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled by the caller: %v", err)
	}
	for range 3 {
		var fault *policy.Fault
		if _, err := p.Consolidate(t.Context(), in); !errors.As(err, &fault) || fault.Kind != policy.FaultDeadline {
			t.Errorf("want a deadline, got %v", err)
		}
	}
	var fault *policy.Fault
	if _, err := p.Consolidate(t.Context(), in); !errors.As(err, &fault) || fault.Kind != policy.FaultTripped {
		t.Errorf("want it tripped, got %v", err)
	}
	if s := p.Stats(); !s.Tripped || s.Faults != 3 || len(s.Notes) != 1 || !strings.HasPrefix(s.Notes[0], "p.rego:2:") {
		t.Errorf("%+v", s)
	}
}

// TestMembership guards against a mistake in OPA's rule index (1.22), which
// finds no rule for a value that is in a set by a variable.
func TestMembership(t *testing.T) {
	for name, source := range map[string]string{
		"program":   `deny contains "x" if input.candidate.zone in {"a", data.config.zone}`,
		"evaluated": `deny contains "x" if { input.candidate.zone in {"a", data.config.zone}; count([k | some k, _ in input.candidate.labels]) == 0 }`,
	} {
		p := load(t, policy.HookConsolidate, "package spokeshave.consolidate\n"+source, `{"zone": "b"}`)
		got, err := p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Zone: "b"}}})
		if err != nil || got[0].Verdict != policy.Deny {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestConcurrent(t *testing.T) {
	p := load(t, policy.HookRank, shippedKinds, shippedConfig)
	in := func() *policy.RankInput {
		return &policy.RankInput{Call: moment, Rows: offerings(50), Pool: policy.PoolFacts{Name: "web", Labels: map[string]string{"team": "web"}}}
	}
	want, err := p.Rank(t.Context(), in())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	for range 4 {
		go func() {
			ok := true
			for range 20 {
				got, err := p.Rank(t.Context(), in())
				ok = ok && err == nil && len(got) == len(want)
				for i := range got {
					ok = ok && got[i] == want[i]
				}
			}
			done <- ok
		}()
	}
	for range 4 {
		if !<-done {
			t.Error("answers differ")
		}
	}
}
