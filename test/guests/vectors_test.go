package guests

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wire"
	"spokeshave.dev/sdk/abi"
	sdk "spokeshave.dev/sdk/policy"
	_ "spokeshave.dev/test/guests/echo" // registers the reference policy
)

var update = flag.Bool("update", false, "write the vectors anew")

// configs are the configurations that the guests get.
func configs() map[string]string {
	return map[string]string{
		"default": ``,
		"full": `{"factor": 2.25, "label": "te\u00e4m \ud83d\ude80\n", "loud": true, "plain": false,
			"avoid": ["m7i", "\u0063\u0037g"], "weights": {"r7i": 0.1, "c7i": 1.5e1, "x": 17e-2}}`,
		"plain":   `{"plain": true, "factor": 0.5}`,
		"unknown": `{"zebra": 1, "faktor": {"a": [null, true, -1.5]}, "factor": 2}`,
		"type":    `{"avoid": "m7i", "zebra": 1}`,
		"items":   `{"avoid": ["m7i", 3]}`,
		"values":  `{"weights": {"a": "b"}}`,
		"own":     `{"factor": -1}`,
		"list":    `[1, 2]`,
	}
}

// TestVectors: every language's guest answers each batch with the same status
// and the same bytes, which are committed. The reference is sdk/policy,
// compiled natively.
func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	for _, language := range []string{"c", "assemblyscript", "rust", "go"} {
		t.Run(language, func(t *testing.T) {
			module := module(t, language)
			for config := range configs() {
				m := newMachine(t, module)
				got := m.ask(t, abi.ExportConfigure, read(t, config+"-setup.in"))
				compare(t, config+"-setup", got)
				if got.status != int32(abi.Answered) {
					continue
				}
				for range 2 { // nothing is left of a batch in the next
					for name, hook := range cases(t) {
						compare(t, config+"-"+name, m.ask(t, hook, read(t, name+".in")))
					}
				}
				if said := m.log.String(); language != "go" && strings.Contains(said, "asked about spending\n") != (config == "full") {
					t.Errorf("%s: logged %q", config, said)
				}
			}
		})
	}
}

// cases are the batches by name, with the export that answers them.
func cases(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, hook := range []string{"rank", "consolidate", "ceiling"} {
		found, err := filepath.Glob("testdata/" + hook + "*.in")
		if err != nil || len(found) == 0 {
			t.Fatalf("no vectors of %s: %v", hook, err)
		}
		for _, path := range found {
			out[strings.TrimSuffix(filepath.Base(path), ".in")] = "spokeshave_" + hook
		}
	}
	return out
}

func module(t testing.TB, language string) []byte {
	t.Helper()
	if language == "go" {
		b, err := Build(t.Context(), "../..", "go")
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b, err := os.ReadFile(filepath.Join(language, Module))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compare checks a reply against its vector: four bytes of status, then the
// batch.
func compare(t testing.TB, name string, got reply) {
	t.Helper()
	want := read(t, name+".out")
	if status := int32(binary.LittleEndian.Uint32(want)); got.status != status {
		t.Errorf("%s: status %d, want %d: %q", name, got.status, status, got.batch)
		return
	}
	if want = want[4:]; !bytes.Equal(got.batch, want) {
		for i := range min(len(want), len(got.batch)) {
			if want[i] != got.batch[i] {
				t.Errorf("%s: byte %d differs (%d bytes, want %d):\n%s", name, i, len(got.batch), len(want), differ(want, got.batch, i))
				return
			}
		}
		t.Errorf("%s: %d bytes, want %d", name, len(got.batch), len(want))
	}
}

func differ(want, got []byte, at int) string {
	end := min(at&^7+32, len(want), len(got))
	return fmt.Sprintf("want % x %q\ngot  % x %q", want[at&^7:end], want[at&^7:end], got[at&^7:end], got[at&^7:end])
}

func writeVectors(t *testing.T) {
	t.Helper()
	write := func(name string, parts ...[]byte) {
		if err := os.WriteFile(filepath.Join("testdata", name), bytes.Join(parts, nil), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range batches(t) {
		write(name+".in", b)
	}
	for config, text := range configs() {
		block := setupBlock(text)
		write(config+"-setup.in", block)
		err := sdk.Setup(binary.LittleEndian.Uint16(block[6:]), []byte(text))
		status := abi.Answered
		if err != nil {
			status = abi.Refused
			var s abi.Setup
			if err := s.Parse(block); err != nil {
				t.Fatal(err)
			}
			abi.Messages(block[s.Message.Offset:]).Append(err.Error())
		}
		write(config+"-setup.out", binary.LittleEndian.AppendUint32(nil, uint32(status)), block)
		for name := range cases(t) {
			if err != nil {
				break
			}
			b := read(t, name+".in")
			status := sdk.Handle(b)
			write(config+"-"+name+".out", binary.LittleEndian.AppendUint32(nil, uint32(status)), b)
		}
	}
}

// setupBlock is what the host sends first.
func setupBlock(config string) []byte {
	const message = 2 * abi.MaxMessage
	s := abi.Setup{
		Minor: abi.Minor, Hooks: 1<<abi.HookRank | 1<<abi.HookConsolidate | 1<<abi.HookCeiling,
		Config: abi.Span{Offset: abi.SetupSize, Size: uint32(len(config))},
	}
	s.Message = abi.Span{Offset: (abi.SetupSize + uint32(len(config)) + 15) &^ 15, Size: message}
	s.Total = s.Message.Offset + message
	s.Strides()
	b := make([]byte, s.Total)
	s.Put(b)
	copy(b[s.Config.Offset:], config)
	abi.Messages(b[s.Message.Offset:]).Reset()
	return b
}

// batches are questions as the controller asks them, and some that it never
// would.
func batches(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	add := func(name string, layOut func(*wire.Encoder) (int, error)) {
		var e wire.Encoder
		size, err := layOut(&e)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = make([]byte, size)
		e.Put(out[name])
	}
	call := policy.Call{Time: time.Unix(1_700_000_123, 456), Seed: 0xfedcba9876543210, Generation: 7}
	for name, n := range map[string]int{"rank": 40, "rank-empty": 0, "rank-silent": 3, "rank-broken": 3, "rank-many": 300} {
		add(name, func(e *wire.Encoder) (int, error) { return e.Rank(rankInput(name, n, call)) })
	}
	add("consolidate", func(e *wire.Encoder) (int, error) {
		return e.Consolidate(&policy.ConsolidateInput{Call: call, Candidates: candidates()})
	})
	add("ceiling-caps", func(e *wire.Encoder) (int, error) {
		return e.Ceiling(&policy.CeilingInput{Call: call, Scopes: scopes()})
	})
	add("ceiling-review", func(e *wire.Encoder) (int, error) {
		return e.Ceiling(&policy.CeilingInput{Call: call, Scopes: scopes(), Launches: launches()})
	})
	for name, change := range map[string]func(b []byte){
		"rank-bad-magic":   func(b []byte) { b[3] = '2' },
		"rank-bad-total":   func(b []byte) { binary.LittleEndian.PutUint32(b[8:], 1<<31) },
		"rank-bad-rows":    func(b []byte) { binary.LittleEndian.PutUint32(b[64:], 1<<30) },
		"rank-bad-stride":  func(b []byte) { binary.LittleEndian.PutUint32(b[68:], 12) },
		"rank-bad-message": func(b []byte) { binary.LittleEndian.PutUint32(b[112:], 0xfffffff0) },
		"rank-no-message":  func(b []byte) { binary.LittleEndian.PutUint32(b[116:], 20) },
		"rank-wide":        widen,
	} {
		b := bytes.Clone(out["rank"])
		change(b)
		out[name] = b
	}
	out["rank-short"] = out["rank"][:100]
	return out
}

// widen makes the rows wider than this version knows, by dropping every other.
func widen(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[64:], le.Uint32(b[64:])/2)
	le.PutUint32(b[68:], le.Uint32(b[68:])*2)
}

func rankInput(name string, n int, call policy.Call) *policy.RankInput {
	in := &policy.RankInput{Call: call, Pool: policy.PoolFacts{
		Name: strings.TrimPrefix(name, "rank-"), Labels: map[string]string{"team": "wéb", "te\u00e4m \U0001f680\n": "ünïcode"},
		PendingPods: 3, PendingCPU: 7.25, PendingMemoryGiB: 31.5, RunningNodes: 4, SpotNodes: 2, ClusterOnDemand: 12.75,
	}}
	families := []string{"m7i", "m7g", "c7i", "c7g", "r7i"}
	for i := range n {
		family := families[i/4%len(families)]
		in.Rows = append(in.Rows, policy.RankRow{
			InstanceType: fmt.Sprintf("%s.x%d", family, i/4), Family: family, Zone: "us-west-2" + string(rune('a'+i%3)),
			CapacityType: [...]model.CapacityType{model.Spot, model.OnDemand, model.Reserved}[i%3], Arch: [...]string{"amd64", "arm64", "riscv"}[i/4%3],
			Billed: 0.1 + float64(i)/100, Cost: 0.2 + float64(i)/70, OnDemand: 0.3, VCPU: float64(1 + i%9), MemoryGiB: 4 * float64(1+i%5),
			Interruption: float64(i%7) / 50, PodsFit: uint32(i % 4), GPUs: uint32(i / 30), Running: uint32(i % 6), RunningCluster: uint32(i), FamilyOnDemand: 0.7 * float64(i%4),
		})
	}
	return in
}

func candidates() []policy.Candidate {
	var out []policy.Candidate
	for i := range 12 {
		c := policy.Candidate{
			Node: fmt.Sprintf("node-%d", i), Claim: "general-" + strings.Repeat("x", i), NodePool: "general",
			InstanceType: "m7i.large", Zone: "us-west-2a", CapacityType: "spot",
			Method: [...]string{"Empty", "Underutilized", "Drifted", "Expired"}[i%4], Action: [...]string{"delete", "replace"}[i%2],
			Price: 0.1 * float64(i), Savings: 0.05 * float64(i), AgeSeconds: 100 * float64(i), IdleSeconds: 3.5,
			CPUUtilisation: 0.25, MemoryUtilisation: 0.125, Cost: float64(i % 2), Pods: i,
			JobPods: i / 2, SinceDisruption: float64(i) - 1, PoolEvictions: 3, ClusterEvictions: 5 + i, MoveCost: 0.0625 * float64(i),
			PoolTags: map[string]string{"why": "young"},
		}
		if i%3 > 0 {
			c.Labels = map[string]string{"a": "b", "team": [...]string{"", "hold", "web"}[i%3], "z": ""}
		}
		out = append(out, c)
	}
	return out
}

func scopes() []policy.ScopeSpend {
	return []policy.ScopeSpend{
		{Scope: "cluster", RunningUSD: 10.5, InFlightUSD: 0.25, MonthToDateUSD: 1234.5, Nodes: 9},
		{Scope: "nodepool/general", RunningUSD: 4.5, Nodes: 3},
		{Scope: "label/team=web", MonthToDateUSD: 0.1},
	}
}

func launches() []policy.Launch {
	var out []policy.Launch
	for i := range 9 {
		l := policy.Launch{
			NodePool: "general", InstanceType: "p5.48xlarge", Family: "p5", Zone: "us-west-2b", CapacityType: "on-demand",
			Price: 1.5 * float64(i), WorstPrice: 2 * float64(i), OnDemand: 3, VCPU: 8 * float64(i), MemoryGiB: 10.5 * float64(i), GPUs: i, Pods: 2,
		}
		if i%4 == 1 {
			l.Namespaces = []string{"default", "kube-system"}
		}
		if i%4 == 2 {
			l.PoolTags = map[string]string{"team": "ml"}
		}
		out = append(out, l)
	}
	return out
}
