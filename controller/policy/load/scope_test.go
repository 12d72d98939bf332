package load

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestScope: policies of plugin namespaces touch what the administrator permits, also
// while they fail.
func TestScope(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		namespace string
		scope     *policy.Scope // of team-a; nil for none
		manifest  string
		refused   string   // part of the message
		pools     []string // that the policy, or its failure, is about
		failure   policy.FailurePolicy
	}{
		"own":               {reason: "the controller's namespace has no scope", namespace: "spokeshave", manifest: "hooks: [rank, ceiling]\nfailurePolicy: Fail", pools: []string{"general", "team-a-x", "given"}, failure: policy.Fail},
		"none":              {reason: "without a scope: what bears the label", namespace: "team-a", manifest: "hooks: [rank, consolidate]", pools: []string{"given"}},
		"patterns":          {reason: "and what is named", namespace: "team-a", scope: &policy.Scope{NodePools: []string{"team-a-*"}}, manifest: "hooks: [rank]", pools: []string{"team-a-x", "given"}},
		"match is narrower": {reason: "the author may choose among them", namespace: "team-a", scope: &policy.Scope{NodePools: []string{"*"}}, manifest: "hooks: [rank]\nmatch: {nodePools: [gen*]}", pools: []string{"general"}},
		"match is wider":    {reason: "and nothing besides", namespace: "team-a", scope: &policy.Scope{NodePools: []string{"team-a-*"}}, manifest: "hooks: [rank]\nmatch: {nodePools: ['*']}", pools: []string{"team-a-x", "given"}},
		"another's":         {reason: "scopes belong to their namespaces", namespace: "team-b", scope: &policy.Scope{NodePools: []string{"*"}}, manifest: "hooks: [rank]"},
		"hook":              {reason: "a hook that is not permitted", namespace: "team-a", scope: &policy.Scope{Hooks: []policy.Hook{policy.HookRank}}, manifest: "hooks: [rank, consolidate]", refused: "hook consolidate is not permitted to policies of namespace team-a, only rank: the administrator permits it with policies.pluginScopes.team-a.hooks", pools: []string{"given"}},
		"ceiling":           {reason: "whatever the scope says", namespace: "team-a", scope: &policy.Scope{Hooks: []policy.Hook{policy.HookCeiling}}, manifest: "hooks: [ceiling]", refused: "hook ceiling is for policies in namespace spokeshave"},
		"fail":              {reason: "a failure must not stop launches", namespace: "team-a", manifest: "hooks: [rank]\nfailurePolicy: Fail", refused: "failurePolicy Fail is not permitted to rank policies of namespace team-a", pools: []string{"given"}},
		"fail, permitted":   {reason: "unless the administrator says so", namespace: "team-a", scope: &policy.Scope{FailClosed: true}, manifest: "hooks: [rank]\nfailurePolicy: Fail", pools: []string{"given"}, failure: policy.Fail},
		"fail, consolidate": {reason: "it keeps nodes of its own NodePools", namespace: "team-a", manifest: "hooks: [consolidate]\nfailurePolicy: Fail", pools: []string{"given"}, failure: policy.Fail},
		"broken":            {reason: "its failure is about the scope too, and stops no launches", namespace: "team-a", manifest: "hooks: [rank]\nfailurePolicy: Fail\npriority: high", refused: "priority", pools: []string{"given"}},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(Config{
				Namespace: "spokeshave", Engines: map[string]policy.Engine{"rego": fake{&[]string{}}},
				Now: func() time.Time { return time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC) },
			})
			if tc.scope != nil {
				l.cfg.Scopes = map[string]policy.Scope{"team-a": *tc.scope}
			}
			_, err := l.Apply(t.Context(), configMap(tc.namespace, "p", tc.manifest, map[string]string{"p.rego": "package spokeshave.rank"}))
			if tc.refused == "" && err != nil || tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)) {
				t.Fatalf("%s: %v, want %q", tc.reason, err, tc.refused)
			}
			var pools []string
			for _, p := range l.Policies() {
				info := p.Info()
				if info.Failure != tc.failure {
					t.Errorf("%s: failure policy %q, want %q", tc.reason, info.Failure, tc.failure)
				}
				for _, pool := range []model.Pool{{Name: "general"}, {Name: "team-a-x"}, {Name: "given", Labels: map[string]string{policy.LabelPluginNamespace: "team-a"}}} {
					if info.Match.Pool(&pool) {
						pools = append(pools, pool.Name)
					}
				}
			}
			if diff := cmp.Diff(tc.pools, pools); diff != "" {
				t.Errorf("%s: pools -want +got\n%s", tc.reason, diff)
			}
			if said := l.Status()[0].Scope; (said == "") != (tc.namespace == "spokeshave") || tc.scope != nil && tc.namespace == "team-a" && !strings.HasPrefix(said, strings.Join(tc.scope.NodePools, ",")) {
				t.Errorf("%s: the status says %q", tc.reason, said)
			}
		})
	}
}
