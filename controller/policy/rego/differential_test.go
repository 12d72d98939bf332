package rego

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// writer makes up policies.
type writer struct {
	*rand.Rand
	text, number []string
	object       string
}

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func rankWriter(r *rand.Rand) *writer {
	return &writer{
		Rand: r, object: "input.pool.labels",
		text:   []string{"input.offering.family", "input.offering.zone", "input.offering.arch", "input.offering.capacityType", "input.pool.name", "input.pool.labels.team", "input.pool.labels.none"},
		number: []string{"input.offering.vcpu", "input.offering.gpus", "input.offering.cost", "input.offering.interruption", "input.pool.pendingPods", "data.config.n"},
	}
}

func candidateWriter(r *rand.Rand) *writer {
	return &writer{
		Rand: r, object: "input.candidate.labels",
		text:   []string{"input.candidate.zone", "input.candidate.method", "input.candidate.labels.team", "input.candidate.labels.none", "input.candidate.nodePool"},
		number: []string{"input.candidate.savings", "input.candidate.pods", "input.candidate.ageSeconds", "data.config.n", "to_number(input.candidate.labels.size)"},
	}
}

func launchWriter(r *rand.Rand) *writer {
	return &writer{
		Rand: r, object: "input.launch.nodePoolLabels",
		text:   []string{"input.launch.zone", "input.launch.family", "input.launch.nodePoolLabels.team", "input.launch.nodePoolLabels.none", "input.time", "input.launch.namespaces[0]"},
		number: []string{"input.launch.price", "input.launch.gpus", "input.spend.cluster.runningUSD", "input.spend.none.nodes", "data.config.n", "count(input.launch.namespaces)"},
	}
}

func (w *writer) word() string {
	return one(w.Rand, `"a"`, `"b"`, `"m5"`, `"spot"`, `"arm64"`, `"web"`, `"Empty"`, "data.config.word")
}

func (w *writer) amount() string {
	n := one(w.Rand, w.number...)
	switch w.IntN(8) {
	case 0:
		return fmt.Sprintf("%s * %d", n, w.IntN(4))
	case 1:
		return fmt.Sprintf("(%s + 0.1)", n)
	case 2:
		return fmt.Sprintf("round(%s)", n)
	case 3:
		return fmt.Sprintf("10 / (%s + 1)", n)
	case 4:
		return fmt.Sprintf("%d", w.IntN(5))
	case 5:
		return fmt.Sprintf(one(w.Rand, "twice(%s)", "scaled(%s)", "between(%s)"), n)
	case 6:
		return one(w.Rand, fmt.Sprintf("worth(%s)", one(w.Rand, w.text...)), "doubled", "scaled(doubled)")
	}
	return n
}

func (w *writer) condition() string {
	op := one(w.Rand, "==", "!=", "<", "<=", ">", ">=")
	switch w.IntN(18) {
	case 0, 1, 2:
		return fmt.Sprintf("%s %s %s", one(w.Rand, w.text...), one(w.Rand, "==", "!=", "=="), w.word())
	case 3, 4:
		return fmt.Sprintf("%s %s %s", w.amount(), op, one(w.Rand, "0", "1", "2.5", "0.3", "data.config.n", w.amount()))
	case 5:
		return fmt.Sprintf("%s in {%s, %s}", one(w.Rand, w.text...), w.word(), w.word())
	case 6:
		return fmt.Sprintf("not %s in [%s, %s]", one(w.Rand, w.text...), w.word(), w.word())
	case 7:
		return fmt.Sprintf("not %s %s %s", w.amount(), op, "2")
	case 8:
		return fmt.Sprintf("startswith(%s, %s)", one(w.Rand, w.text...), w.word())
	case 9:
		return one(w.Rand, "helper", "not helper", "not other", "other", "chosen == 3")
	case 10:
		return fmt.Sprintf("%s[%s] == %s", w.object, w.word(), w.word())
	case 11:
		return fmt.Sprintf("%s %s %s", w.word(), op, one(w.Rand, w.text...))
	case 12:
		return fmt.Sprintf("%s[%s]", "data.config.set", one(w.Rand, w.text...))
	case 13:
		return fmt.Sprintf("every x in [%s, %s] { x != %s }", w.word(), w.word(), one(w.Rand, w.text...))
	case 14:
		return fmt.Sprintf("concat(\"-\", [%s, %s]) == \"a-b\"", one(w.Rand, w.text...), one(w.Rand, w.text...))
	}
	return one(w.Rand,
		fmt.Sprintf("some k, v in %s; k == %s; v != %s", w.object, w.word(), w.word()),
		"several == 1", "ladder == 2", `time.weekday(time.now_ns()) == "Saturday"`, w.text1(), w.data(), w.beyond(),
	)
}

// text1 is a condition on a text that is built, split or searched.
func (w *writer) text1() string {
	x := one(w.Rand, w.text...)
	return one(w.Rand,
		fmt.Sprintf("endswith(lower(%s), %s)", x, w.word()),
		fmt.Sprintf("contains(%s, %s)", x, one(w.Rand, `""`, `"a"`, `"5"`)),
		fmt.Sprintf("split(%s, \"m\")[%d] == %s", x, w.IntN(3), one(w.Rand, `""`, `"5"`, w.word())),
		fmt.Sprintf("[head, tail] := split(sprintf(\"%%s-%%v\", [%s, %s]), \"-\"); head != tail", x, w.amount()),
		fmt.Sprintf("regex.match(`^[a-m]`, %s)", x),
		fmt.Sprintf("substring(%s, 0, 1) == %s", x, w.word()),
		fmt.Sprintf("%s == %s", x, one(w.Rand, w.text...)),
	)
}

// data is a condition on what the configuration says of a field.
func (w *writer) data() string {
	x := one(w.Rand, w.text...)
	return one(w.Rand,
		fmt.Sprintf("data.config.table[%s] %s %s", x, one(w.Rand, "<", ">=", "=="), one(w.Rand, "1", "1.5", "data.config.n")),
		fmt.Sprintf("not data.config.table[%s]", x),
		fmt.Sprintf("%s in data.config.list", x),
		fmt.Sprintf("some i, entry in data.config.list; entry == %s; i > 0", x),
		fmt.Sprintf("object.get(data.config.table, %s, 9) > 2", x),
		fmt.Sprintf("every entry in data.config.list { entry != %s }", x),
		fmt.Sprintf("known(%s)", x),
		fmt.Sprintf("not known(%s)", x),
		fmt.Sprintf("label(%s) == %s", x, one(w.Rand, `"l b"`, `label(data.config.word)`, w.word())),
		fmt.Sprintf("worth(%s) %s %s", x, one(w.Rand, "<", "!="), w.amount()),
		fmt.Sprintf("price := worth(%s); price > %s", x, one(w.Rand, "1", "scaled(1)")),
	)
}

// beyond is a condition that no compiled program expresses, so that OPA evaluates
// the rule.
func (w *writer) beyond() string {
	x := one(w.Rand, w.text...)
	return one(w.Rand,
		fmt.Sprintf("count([k | some k, _ in %s]) > 1", w.object),
		fmt.Sprintf("{k | some k, v in %s; v != %s} != set()", w.object, x),
		fmt.Sprintf("helper with %s as %s", strings.Split(x, "[")[0], w.word()),
		"some kind in kinds; kind != "+x,
		fmt.Sprintf("%s in kinds", w.word()),
		"fallback(1) == 2",
	)
}

func (w *writer) body() string {
	var all []string
	for range 1 + w.IntN(3) {
		all = append(all, w.condition())
	}
	return strings.Join(all, "\n\t")
}

func (w *writer) key() string {
	if w.IntN(4) == 0 {
		return fmt.Sprintf("sprintf(%q, [%s])", "r %v", one(w.Rand, append(w.text, w.amount())...))
	}
	if w.IntN(6) == 0 {
		return one(w.Rand, "data.config.word", "label(data.config.word)", fmt.Sprintf("label(%s)", one(w.Rand, w.text...)), `concat(" ", ["r", label("x")])`)
	}
	return one(w.Rand, `"r1"`, `"r2"`, `"r3"`, `"r4"`, `"r5"`, `"r6"`)
}

func (w *writer) objects(name string, values func() string) string {
	switch w.IntN(8) {
	case 0, 1:
		return fmt.Sprintf("%s[reason] := value if {\n\tsome t, value in data.config.table\n\t%s == t\n\treason := %s\n}\n", name, one(w.Rand, w.text...), one(w.Rand, `concat(" ", ["table", t])`, `"table"`))
	case 2:
		return fmt.Sprintf("%s[t] := %s if {\n\tsome t, value in data.config.table\n\t%s\n\t%s\n}\n", name,
			one(w.Rand, "twice(value)", "scaled(value)", "worth(t)", "value + doubled"), one(w.Rand, one(w.Rand, w.text...)+" == t", "not "+one(w.Rand, w.text...)+" == t"), w.condition())
	}
	return fmt.Sprintf("%s[%s] := %s if {\n\t%s\n}\n", name, w.key(), values(), w.body())
}

func (w *writer) set(name string) string {
	return fmt.Sprintf("%s contains %s if {\n\t%s\n}\n", name, w.key(), w.body())
}

func (w *writer) helpers() string {
	return fmt.Sprintf(`helper if { %s }
helper if { %s }
other if { %s }
default chosen := 3
chosen := 4 if { %s }
twice(x) := x * 2
scaled(x) := y if { y := x * data.config.n; y != 7 }
between(x) := 1 if { x < 2; x >= 1 }
worth(x) := data.config.table[x]
known(x) if data.config.set[x]
label(x) := sprintf("l %%s", [x])
doubled := twice(data.config.n)
several := 1 if { %s }
several := 2 if { %s }
ladder := 1 if { %s } else := 2
kinds contains "a" if { %s }
kinds contains "b" if { %s }
default fallback(_) := 2
fallback(x) := x if { %s }
`, w.plain(), w.plain(), w.plain(), w.plain(), w.plain(), w.plain(), w.plain(), w.plain(), w.plain(), w.plain())
}

func (w *writer) plain() string {
	return fmt.Sprintf("%s %s %s", one(w.Rand, w.text...), one(w.Rand, "==", "!="), w.word())
}

func (w *writer) policy(hook policy.Hook) string {
	out := "package spokeshave." + string(hook) + "\n" + w.helpers()
	value := func() string { return one(w.Rand, "2", "0.5", "data.config.n", w.amount()) }
	for range 1 + w.IntN(4) {
		switch hook {
		case policy.HookRank:
			out += one(w.Rand, w.objects("multiplier", value), w.objects("adder", value), w.set("exclude"))
		case policy.HookConsolidate:
			out += one(w.Rand, w.objects("hold", value), w.objects("cost", value), w.set("deny"))
		case policy.HookCeiling:
			out += one(w.Rand, w.set("deny"), w.set("deny"), fmt.Sprintf("cap[%s] := {\"hourly_usd\": %s} if { %s }\n",
				one(w.Rand, `"cluster"`, `"nodepool/a"`), one(w.Rand, "1", "data.config.n", "input.spend.cluster.runningUSD"), one(w.Rand, "true", `input.time > "2026"`, "input.spend.cluster.nodes > 2")))
		}
	}
	return out
}

const writtenConfig = `{"n": 2, "word": "b", "set": {"a": true, "m5": true, "web": false}, "table": {"a": 1.5, "b": 0.25, "m5": 3}, "list": ["a", "web", 3]}`

// both compiles a policy twice: as programs, and to be evaluated.
func both(t testing.TB, hook policy.Hook, source string) (fast, slow *Policy) {
	t.Helper()
	src := &policy.Source{
		Info:  policy.Info{Name: "p", Hooks: []policy.Hook{hook}},
		Files: map[string]string{"p.rego": source}, Config: []byte(writtenConfig),
	}
	fast, err1 := new(Engine).compile(t.Context(), src)
	slow, err2 := (&Engine{OPAOnly: true}).compile(t.Context(), src)
	if err1 == nil && err2 == nil {
		fast.breaker, slow.breaker = nil, nil // errors in a row are part of the comparison
		return fast, slow
	}
	if (err1 == nil) != (err2 == nil) {
		t.Fatalf("one is refused: %v, %v\n%s", err1, err2, source)
	}
	return nil, nil
}

func compare[T any](t testing.TB, source string, fast, slow func() (T, error)) {
	t.Helper()
	got, err1 := fast()
	want, err2 := slow()
	var fault1, fault2 *policy.Fault
	errors.As(err1, &fault1)
	errors.As(err2, &fault2)
	if err1 == nil && fault2 != nil && fault2.Kind == policy.FaultTrap && !strings.Contains(fault2.Message, "must be unique") && !strings.Contains(fault2.Message, "multiple outputs") {
		return // an error in a rule with a condition that data alone makes false
	}
	if (err1 == nil) != (err2 == nil) || fault1 != nil && fault1.Kind != fault2.Kind {
		t.Fatalf("programs: %v\nevaluated: %v\n%s", err1, err2, source)
	}
	if err1 == nil {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-evaluated +programs\n%s\n%s", diff, source)
		}
	}
}

func differ(t testing.TB, seed uint64) (programs, notes int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	call := policy.Call{Time: time.Date(2026, 3, 14, 15, 0, 0, 0, time.UTC)}
	hook := one(r, hooks()...)
	var w *writer
	switch hook {
	case policy.HookRank:
		w = rankWriter(r)
	case policy.HookConsolidate:
		w = candidateWriter(r)
	case policy.HookCeiling:
		w = launchWriter(r)
	}
	source := w.policy(hook)
	fast, slow := both(t, hook, source)
	if fast == nil {
		return 0, 0
	}
	word := func() string { return one(r, "a", "b", "m5", "spot", "arm64", "web", "Empty") }
	amount := func() float64 { return one(r, 0, 0.3, 1, 2, 2.5, 7, 0.1+0.2, 1.0/3) }
	labels := func() map[string]string {
		out := map[string]string{}
		for range r.IntN(4) {
			out[one(r, "team", "a", "b", "size")] = one(r, word(), word(), "5")
		}
		return out
	}
	switch hook {
	case policy.HookRank:
		in := &policy.RankInput{Call: call, Pool: policy.PoolFacts{Name: word(), Labels: labels(), PendingPods: r.IntN(4)}}
		for range 24 {
			in.Rows = append(in.Rows, policy.RankRow{Family: word(), Zone: word(), Arch: word(), CapacityType: model.CapacityType(word()), VCPU: amount(), Cost: amount(), Interruption: amount(), GPUs: r.Uint32N(3)})
		}
		compare(t, source, func() ([]policy.RankAnswer, error) { return fast.Rank(t.Context(), in) }, func() ([]policy.RankAnswer, error) { return slow.Rank(t.Context(), in) })
	case policy.HookConsolidate:
		for range 8 {
			in := &policy.ConsolidateInput{Call: call, Candidates: []policy.Candidate{{Zone: word(), Method: word(), NodePool: word(), Labels: labels(), Savings: amount(), Pods: r.IntN(4), AgeSeconds: amount()}}}
			compare(t, source, func() ([]policy.ConsolidateAnswer, error) { return fast.Consolidate(t.Context(), in) }, func() ([]policy.ConsolidateAnswer, error) { return slow.Consolidate(t.Context(), in) })
		}
	case policy.HookCeiling:
		for range 8 {
			in := &policy.CeilingInput{Call: call, Scopes: []policy.ScopeSpend{{Scope: "cluster", RunningUSD: amount(), Nodes: r.IntN(5)}}}
			for range r.IntN(3) {
				in.Launches = append(in.Launches, policy.Launch{Zone: word(), Family: word(), PoolTags: labels(), Price: amount(), GPUs: r.IntN(2), Namespaces: []string{word(), word()}[:r.IntN(3)]})
			}
			compare(t, source, func() (policy.CeilingAnswer, error) { return fast.Ceiling(t.Context(), in) }, func() (policy.CeilingAnswer, error) { return slow.Ceiling(t.Context(), in) })
		}
	}
	all := 0
	for _, rules := range fast.defined {
		all += len(rules)
	}
	return all - len(fast.notes), len(fast.notes)
}

// TestProgramsEqualEvaluation runs made-up policies both ways: well-typed rules
// inside and outside of what is compiled. The breaker stays closed, as each policy
// is asked few times.
func TestProgramsEqualEvaluation(t *testing.T) {
	programs, notes := 0, 0
	for seed := range uint64(400) {
		p, n := differ(t, seed)
		programs, notes = programs+p, notes+n
	}
	t.Logf("%d rules were programs, %d were evaluated", programs, notes)
	if programs < notes || notes < 40 {
		t.Errorf("%d rules were programs, %d were evaluated: too few of one kind to compare", programs, notes)
	}
}

func FuzzProgramsEqualEvaluation(f *testing.F) {
	f.Add(uint64(1000))
	f.Fuzz(func(t *testing.T, seed uint64) { differ(t, seed) })
}
