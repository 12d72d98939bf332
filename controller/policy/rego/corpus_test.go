package rego

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	yaml3 "go.yaml.in/yaml/v3"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
)

var updateCorpus = flag.Bool("update-corpus", false, "write what OPA answers as the expected answers of the corpus")

// corpusInput is input.yaml of a folder of the corpus: what its policies are asked.
type corpusInput struct {
	Time       time.Time          `yaml:"time"`
	Config     map[string]any     `yaml:"config"`
	Pool       policy.PoolFacts   `yaml:"pool"`
	Rows       []policy.RankRow   `yaml:"rows"`
	Candidates []policy.Candidate `yaml:"candidates"`
	Scopes     []corpusScope      `yaml:"scopes"`
	Launches   []policy.Launch    `yaml:"launches"`
}

type corpusScope struct {
	Scope             string `yaml:"scope"`
	policy.ScopeSpend `yaml:",inline"`
}

// corpusAnswer is what is expected of a policy: an answer or the kind of a fault, and
// which of its rules are compiled.
type corpusAnswer struct {
	Compiled []string         `json:"compiled"`
	ByOPA    []string         `json:"byOPA"`
	Answer   any              `json:"answer,omitempty"`
	Fault    policy.FaultKind `json:"fault,omitempty"`
}

// TestCorpus asks every policy of testdata/corpus/<hook> the question in input.yaml
// beside it, with OPA alone, with compiled rules, and with compiled rules in a process
// of its own (package isolate). All have to give the
// answer in the file of the policy's name with the ending .json, which OPA wrote
// (-update-corpus) and people have read.
func TestCorpus(t *testing.T) {
	compiled, byOPA, faults := 0, 0, 0
	for _, hook := range hooks() {
		folder := filepath.Join("testdata", "corpus", string(hook))
		in := readCorpusInput(t, filepath.Join(folder, "input.yaml"))
		files, err := filepath.Glob(filepath.Join(folder, "*.rego"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no policies: %v", folder, err)
		}
		for _, file := range files {
			t.Run(string(hook)+"/"+strings.TrimSuffix(filepath.Base(file), ".rego"), func(t *testing.T) {
				want := corpusCase(t, hook, in, file)
				compiled, byOPA = compiled+len(want.Compiled), byOPA+len(want.ByOPA)
				if want.Fault != "" {
					faults++
				}
			})
		}
	}
	if compiled < 50 || byOPA < 5 || faults < 8 {
		t.Errorf("%d rules are compiled, %d are evaluated by OPA, %d policies fault: the corpus has too few of one", compiled, byOPA, faults)
	}
}

func readCorpusInput(t *testing.T, file string) *corpusInput {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var in corpusInput
	dec := yaml3.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&in); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return &in
}

func corpusCase(t *testing.T, hook policy.Hook, in *corpusInput, file string) corpusAnswer {
	t.Helper()
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config, err := json.Marshal(in.Config)
	if err != nil {
		t.Fatal(err)
	}
	src := &policy.Source{
		Info: policy.Info{Name: "corpus", Hooks: []policy.Hook{hook}}, Files: map[string]string{"policy.rego": string(source)}, Config: config,
	}
	ask := func(e *Engine) corpusAnswer {
		p, err := e.compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		return p.corpusAnswer(t, hook, in)
	}
	byOPA, compiled := ask(&Engine{OPAOnly: true}), ask(&Engine{})
	if len(byOPA.Compiled) > 0 {
		t.Errorf("the compiled evaluator is off, and %v are compiled", byOPA.Compiled)
	}
	byOPA.Compiled, byOPA.ByOPA = compiled.Compiled, compiled.ByOPA
	apart := compiled
	apart.Answer, apart.Fault = answerApart(t, src, hook, in)
	if diff := cmp.Diff(string(encoded(t, compiled)), string(encoded(t, apart))); diff != "" {
		t.Errorf("in a process of its own: -here +apart\n%s", diff)
	}
	golden := strings.TrimSuffix(file, ".rego") + ".json"
	if *updateCorpus {
		if err := os.WriteFile(golden, encoded(t, byOPA), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(encoded(t, byOPA))); diff != "" {
		t.Errorf("OPA: -want +got\n%s", diff)
	}
	if diff := cmp.Diff(string(text), string(encoded(t, compiled))); diff != "" {
		t.Errorf("compiled: -want +got\n%s", diff)
	}
	return compiled
}

// answerApart asks the policy in a process of its own.
func answerApart(t *testing.T, src *policy.Source, hook policy.Hook, in *corpusInput) (answer any, kind policy.FaultKind) {
	t.Helper()
	p, err := isolate.New(isolate.Config{Engine: Name}).Compile(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close(t.Context()) //nolint:errcheck // the end of a test
	return answerTo(t, p, hook, in)
}

func encoded(t *testing.T, a corpusAnswer) []byte {
	t.Helper()
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// corpusAnswer asks the policy.
func (p *Policy) corpusAnswer(t *testing.T, hook policy.Hook, in *corpusInput) corpusAnswer {
	t.Helper()
	out := corpusAnswer{Compiled: []string{}, ByOPA: []string{}}
	for _, rule := range p.defined[hook] {
		mark := " " + string(hook) + " " + rule + " is evaluated"
		if slices.ContainsFunc(p.notes, func(note string) bool { return strings.Contains(note, mark) }) {
			out.ByOPA = append(out.ByOPA, rule)
		} else {
			out.Compiled = append(out.Compiled, rule)
		}
	}
	out.Answer, out.Fault = answerTo(t, p, hook, in)
	return out
}

// answerTo asks any policy: it returns an answer, or the kind of a fault.
func answerTo(t *testing.T, p policy.Policy, hook policy.Hook, in *corpusInput) (answer any, kind policy.FaultKind) {
	t.Helper()
	var err error
	call := policy.Call{Time: in.Time}
	switch hook {
	case policy.HookRank:
		answer, err = p.Rank(t.Context(), &policy.RankInput{Call: call, Pool: in.Pool, Rows: in.Rows})
	case policy.HookConsolidate:
		answer, err = p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: call, Candidates: in.Candidates})
	case policy.HookCeiling:
		ask := &policy.CeilingInput{Call: call, Launches: in.Launches}
		for _, s := range in.Scopes {
			s.ScopeSpend.Scope = s.Scope
			ask.Scopes = append(ask.Scopes, s.ScopeSpend)
		}
		answer, err = p.Ceiling(t.Context(), ask)
	}
	var fault *policy.Fault
	switch {
	case errors.As(err, &fault):
		return nil, fault.Kind
	case err != nil:
		t.Fatal(err)
	}
	return answer, ""
}
