package load

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// fake is an engine that compiles everything but code that says so.
type fake struct{ closed *[]string }

func (f fake) Compile(_ context.Context, src *policy.Source) (policy.Compiled, error) {
	for name, text := range src.Files {
		if strings.Contains(text, "broken") {
			return nil, errors.New(name + ":1:1: broken")
		}
	}
	return &compiled{info: src.Info, closed: f.closed}, nil
}

type compiled struct {
	policy.Policy

	info   policy.Info
	closed *[]string
	stats  policy.Stats
}

func (c *compiled) Info() policy.Info   { return c.info }
func (c *compiled) Stats() policy.Stats { return c.stats }

func (c *compiled) Close(context.Context) error {
	*c.closed = append(*c.closed, c.info.Name)
	return nil
}

func newTest(required ...string) (*Loader, *[]string) {
	closed := &[]string{}
	return New(Config{
		Namespace: "spokeshave", Required: required,
		Engines: map[string]policy.Engine{"rego": fake{closed}, "wasm": fake{closed}},
		Now:     func() time.Time { return time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC) },
	}), closed
}

func configMap(namespace, name, manifest string, files map[string]string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string]string{}}
	maps.Copy(cm.Data, files)
	if manifest != "" {
		cm.Data[manifestFile] = "apiVersion: policy.spokeshave.dev/v1alpha1\n" + manifest
	}
	return cm
}

func zipped(t testing.TB, module []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(module); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestParseConfigMap(t *testing.T) {
	rego := map[string]string{"p.rego": "package x"}
	cases := map[string]struct {
		reason   string
		manifest string
		files    map[string]string
		binary   map[string][]byte
		want     policy.Info
		err      string
	}{
		"least": {reason: "defaults", manifest: "hooks: [rank]", files: rego, want: policy.Info{Engine: "rego", Hooks: []policy.Hook{"rank"}, Mode: policy.Enforce}},
		"all": {
			reason:   "every field",
			manifest: "hooks: [rank, ceiling]\nengine: rego\nmode: Shadow\npriority: 7\nmatch: {nodePools: ['a*'], selector: {matchLabels: {team: ml}}}\nfailurePolicy: Fail\nlimits: {fuel: 50M, memory: 16Mi, deadline: 100ms}\nconfig: {x: 1}",
			files:    rego,
			want: policy.Info{
				Engine: "rego", Hooks: []policy.Hook{"rank", "ceiling"}, Mode: policy.Shadow, Priority: 7, Failure: policy.Fail,
				Match: policy.Match{NodePools: []string{"a*"}, Selector: []model.Requirement{{Key: "team", Operator: model.In, Values: []string{"ml"}}}},
			},
		},
		"gzip":     {reason: "the engine follows from the files", manifest: "hooks: [rank]", binary: map[string][]byte{moduleGzipFile: zipped(t, []byte("\x00asm"))}, want: policy.Info{Engine: "wasm", Hooks: []policy.Hook{"rank"}, Mode: policy.Enforce}},
		"none":     {reason: "no manifest", files: rego, err: "policy.yaml is missing"},
		"unknown":  {reason: "a field that does not exist", manifest: "hooks: [rank]\nprioritty: 1", files: rego, err: `unknown field "prioritty"`},
		"hook":     {reason: "a hook that does not exist", manifest: "hooks: [rnak]", files: rego, err: `"rnak" is not one of`},
		"nohook":   {reason: "no hook", manifest: "mode: Enforce", files: rego, err: "name at least one"},
		"mode":     {reason: "a mode that does not exist", manifest: "hooks: [rank]\nmode: enforce", files: rego, err: `mode: "enforce" is not one of Enforce, Shadow: did you mean Enforce?`},
		"failure":  {reason: "a failure policy that does not exist", manifest: "hooks: [rank]\nfailurePolicy: Panic", files: rego, err: `failurePolicy: "Panic" is not one of Fail, Ignore`},
		"pattern":  {reason: "a malformed pattern", manifest: "hooks: [rank]\nmatch: {nodePools: ['a[']}", files: rego, err: "is not a pattern"},
		"deadline": {reason: "a deadline of nothing", manifest: "hooks: [rank]\nlimits: {deadline: 0s}", files: rego, err: "deadline at least 1ms"},
		"both":     {reason: "two kinds of code", manifest: "hooks: [rank]", files: rego, binary: map[string][]byte{moduleFile: []byte("x")}, err: "both a module and Rego"},
		"nocode":   {reason: "no code", manifest: "hooks: [rank]", err: "no code"},
		"engine":   {reason: "the wrong engine", manifest: "hooks: [rank]\nengine: wasm", files: rego, err: "the files are for rego"},
		"misnamed": {reason: "a file nobody reads", manifest: "hooks: [rank]", files: map[string]string{"p.reog": ""}, err: "p.reog: a policy has"},
		"sum":      {reason: "another module than announced", manifest: "hooks: [rank]\nsha256: abc", binary: map[string][]byte{moduleFile: []byte("x")}, err: "sha256 is abc"},
		"notgzip":  {reason: "not compressed", manifest: "hooks: [rank]", binary: map[string][]byte{moduleGzipFile: []byte("x")}, err: moduleGzipFile},
		"bomb":     {reason: "a decompression bomb", manifest: "hooks: [rank]", binary: map[string][]byte{moduleGzipFile: zipped(t, make([]byte, maxModule+1))}, err: "decodes to more than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cm := configMap("", "", tc.manifest, tc.files)
			cm.BinaryData = tc.binary
			src, err := ParseConfigMap(cm)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Fatalf("%s: error %v, want %q", tc.reason, err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if len(src.Info.Hash) != 64 {
				t.Errorf("%s: hash %q", tc.reason, src.Info.Hash)
			}
			src.Info.Hash = ""
			if diff := cmp.Diff(tc.want, src.Info); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLastGoodVersionStays(t *testing.T) {
	l, closed := newTest()
	good := configMap("spokeshave", "p", "hooks: [rank]", map[string]string{"p.rego": "one"})
	if changed, err := l.Apply(t.Context(), good); err != nil || !changed {
		t.Fatalf("first: changed %v, %v", changed, err)
	}
	first := l.Policies()[0].Info().Hash
	if changed, err := l.Apply(t.Context(), good); err != nil || changed {
		t.Errorf("the same again: changed %v, %v", changed, err)
	}
	bad := configMap("spokeshave", "p", "hooks: [rank]", map[string]string{"p.rego": "broken"})
	if changed, err := l.Apply(t.Context(), bad); err == nil || changed || !strings.Contains(err.Error(), "p.rego:1:1") {
		t.Errorf("broken: changed %v, %v", changed, err)
	}
	if got := l.Policies(); len(got) != 1 || got[0].Info().Hash != first {
		t.Errorf("the good version is gone: %v", got)
	}
	s := l.Status()[0]
	if s.State != policy.StateRejected || s.Hash != first || !strings.Contains(s.Reason, "p.rego:1:1") || !strings.Contains(s.Reason, "stays in force") {
		t.Errorf("status %+v", s)
	}
	mended := configMap("spokeshave", "p", "hooks: [rank]", map[string]string{"p.rego": "two"})
	if changed, err := l.Apply(t.Context(), mended); err != nil || !changed {
		t.Fatalf("mended: changed %v, %v", changed, err)
	}
	if s := l.Status()[0]; s.State != policy.StateActive || s.Reason != "" {
		t.Errorf("status %+v", s)
	}
	if diff := cmp.Diff([]string{"p"}, *closed); diff != "" {
		t.Errorf("closed: %s", diff)
	}
	if changed, err := l.Delete(t.Context(), Key{"spokeshave", "p"}); err != nil || !changed || len(l.Policies()) != 0 || len(l.Status()) != 0 {
		t.Errorf("delete: changed %v, %v", changed, err)
	}
}

func TestGuardrailsAndPlugins(t *testing.T) {
	l, _ := newTest("budget", "team/rank")
	rego := map[string]string{"p.rego": ""}
	if diff := cmp.Diff([]string{"budget", "team/rank"}, l.Missing()); diff != "" {
		t.Errorf("missing: %s", diff)
	}
	if _, err := l.Apply(t.Context(), configMap("team", "budget", "hooks: [ceiling]", rego)); err == nil || !strings.Contains(err.Error(), "must not lift a budget") {
		t.Errorf("a plugin may set ceilings: %v", err)
	}
	for _, cm := range []*corev1.ConfigMap{
		configMap("team", "rank", "hooks: [rank]\npriority: 10", rego),
		configMap("spokeshave", "budget", "hooks: [ceiling]\nmode: Shadow", rego),
		configMap("spokeshave", "aa", "hooks: [rank]\npriority: 10", rego),
	} {
		if _, err := l.Apply(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"budget"}, l.Missing()); diff != "" {
		t.Errorf("a shadow policy fulfils a requirement: %s", diff)
	}
	var order []string
	for _, p := range l.Policies() {
		order = append(order, p.Info().Name)
	}
	if diff := cmp.Diff([]string{"budget", "aa", "rank"}, order); diff != "" {
		t.Errorf("order: %s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\n"), []byte("package spokeshave.rank"), []byte{})
	f.Add([]byte("hooks: {}"), []byte{}, zipped(f, []byte("\x00asm")))
	f.Fuzz(func(t *testing.T, manifest, rego, module []byte) {
		files := map[string][]byte{manifestFile: manifest, "p.rego": rego}
		if len(module) > 0 {
			files = map[string][]byte{manifestFile: manifest, moduleGzipFile: module}
		}
		src, err := parse("n", "p", files)
		if err == nil && (len(src.Info.Hooks) == 0 || src.Info.Engine == "" || len(src.Module) > maxModule) {
			t.Errorf("accepted %+v", src)
		}
	})
}
