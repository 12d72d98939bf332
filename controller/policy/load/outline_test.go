package load

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// FuzzOutline: whatever is in policy.yaml, its outline has hooks that there are, a mode and a
// failure policy that there are, and a match that can be used. What the outline says of a policy
// that can be read is what is read. A policy whose hooks nobody can read counts as a ceiling in
// the controller's namespace; in another one it is never a ceiling.
func FuzzOutline(f *testing.F) {
	for _, text := range []string{
		"hooks: [rank]\nmode: Shadow\nfailurePolicy: Fail", "hooks: ceiling\npriority: high", "hooks: [celing, rank]", "hooks: [ceiling, rank]\nmatch: {nodePools: ['[']}",
		"hooks: &a [*a]", "hooks: [rank]\nhooks: [ceiling]", "hooks: [consolidate]\nmatch: {nodePools: [a, 'b*'], selector: {matchLabels: {a: b}}}\npriority: 7\nengine: rego", "- {", "hooks: [null]", "priority: 1e30",
	} {
		f.Add("apiVersion: "+APIVersion+"\n"+text, "spokeshave")
		f.Add("apiVersion: "+APIVersion+"\n"+text, "plugins")
	}
	f.Fuzz(func(t *testing.T, text, namespace string) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p"}, Data: map[string]string{manifestFile: text, "p.rego": "package spokeshave.rank"}}
		l := New(Config{Namespace: "spokeshave", Scopes: map[string]policy.Scope{"plugins": {NodePools: []string{"*"}, FailClosed: true}}})
		info := l.outline(cm)
		checkOutline(t, &info)
		hooks, readable := hooksIn(manifestFields([]byte(text))["hooks"])
		if !readable && namespace == "spokeshave" && !slices.Equal(info.Hooks, allHooks()) {
			t.Errorf("hooks %v, read were %v", info.Hooks, hooks)
		}
		src, err := ParseConfigMap(cm)
		if err != nil || namespace != "spokeshave" {
			return
		}
		for _, h := range allHooks() {
			if info.Answers(h) != src.Info.Answers(h) {
				t.Errorf("hooks %v of a policy with %v", info.Hooks, src.Info.Hooks)
			}
		}
		if info.Mode != src.Info.Mode || info.Priority != src.Info.Priority || len(info.Match.NodePools) != len(src.Info.Match.NodePools) {
			t.Errorf("the outline %+v of the policy %+v", info, src.Info)
		}
	})
}

// checkOutline fails if the outline has values that there are not.
func checkOutline(t *testing.T, info *policy.Info) {
	t.Helper()
	for _, h := range info.Hooks {
		if !slices.Contains(allHooks(), h) || h == policy.HookCeiling && info.Namespace != "spokeshave" {
			t.Errorf("hook %q in %s", h, info.Namespace)
		}
	}
	if info.Mode != policy.Enforce && info.Mode != policy.Shadow {
		t.Errorf("mode %q", info.Mode)
	}
	if info.Failure != "" && info.Failure != policy.Fail && info.Failure != policy.Ignore {
		t.Errorf("failure policy %q", info.Failure)
	}
	if info.Guards != info.Answers(policy.HookCeiling) {
		t.Errorf("guards is %t, hooks are %v", info.Guards, info.Hooks)
	}
	info.Match.Pool(&model.Pool{Name: "a"})
}
