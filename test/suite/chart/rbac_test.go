package chart

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// TestRBAC: no rule says "everything", nobody reads secrets, and an observer
// changes nothing but its own records.
func TestRBAC(t *testing.T) {
	h := newHelm(t)
	for name, text := range map[string]string{
		"act":     `policies: {pluginNamespaces: [team-a]}`,
		"observe": `{controller: {mode: Observe}, policies: {pluginNamespaces: [team-a]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			objs := h.render(t, text)
			checked := 0
			for key := range objs {
				rules := rulesOf(t, objs, key)
				for _, r := range rules {
					checked++
					all := slices.Concat(r.APIGroups, r.Resources, r.Verbs)
					if slices.Contains(all, "*") {
						t.Errorf("%s: wildcard in %v", key, r)
					}
					if slices.Contains(r.Resources, "secrets") || slices.Contains(r.Verbs, "impersonate") ||
						slices.Contains(r.Verbs, "escalate") || slices.Contains(r.Verbs, "bind") {
						t.Errorf("%s: %v is more than a node autoscaler needs", key, r)
					}
				}
			}
			if checked < 10 {
				t.Errorf("only %d rules found", checked)
			}
			if name == "observe" {
				observerWritesNothing(t, rulesOf(t, objs, "ClusterRole/spokeshave"))
			}
		})
	}
}

func observerWritesNothing(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	for _, r := range rules {
		reads := !slices.ContainsFunc(r.Verbs, func(v string) bool { return !slices.Contains([]string{"get", "list", "watch"}, v) })
		asks := slices.Equal(r.Resources, []string{"tokenreviews"}) || slices.Equal(r.Resources, []string{"subjectaccessreviews"})
		if !reads && !asks && !slices.Equal(r.Resources, []string{"events"}) {
			t.Errorf("mode Observe: %v", r)
		}
	}
}

// rulesOf returns the rules of a role, and none for anything else.
func rulesOf(t *testing.T, objs objects, key string) []rbacv1.PolicyRule {
	t.Helper()
	switch {
	case strings.HasPrefix(key, "ClusterRole/"):
		return get[rbacv1.ClusterRole](t, objs, key).Rules
	case strings.HasPrefix(key, "Role/"):
		return get[rbacv1.Role](t, objs, key).Rules
	}
	return nil
}
