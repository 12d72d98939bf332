package load

import (
	"fmt"
	"strings"

	"spokeshave.dev/controller/core/policy"
)

// confine limits a policy of a plugin namespace to the scope that the administrator
// gave the namespace. The error says what the policy asks for and may not have.
func (c *Config) confine(info *policy.Info) error {
	if info.Namespace == c.Namespace {
		return nil
	}
	scope := c.Scopes[info.Namespace]
	for _, h := range info.Hooks {
		switch {
		case h == policy.HookCeiling:
			return fmt.Errorf("hook ceiling is for policies in namespace %s: whoever ranks instances must not lift a budget", c.Namespace)
		case !scope.Permits(h):
			return fmt.Errorf("hook %s is not permitted to policies of namespace %s, only %s: the administrator permits it with policies.pluginScopes.%s.hooks",
				h, info.Namespace, words(scope.Hooks), info.Namespace)
		}
	}
	if info.Answers(policy.HookRank) && info.Failure == policy.Fail && !scope.FailClosed {
		return fmt.Errorf("failurePolicy Fail is not permitted to rank policies of namespace %s, because their failure would stop launches: the administrator permits it with policies.pluginScopes.%s.failClosed",
			info.Namespace, info.Namespace)
	}
	info.Match.Scope, info.Match.Namespace = &scope, info.Namespace
	return nil
}

// confineFailure limits what the failure of a policy that cannot be loaded affects.
func (c *Config) confineFailure(info *policy.Info) {
	if info.Namespace == c.Namespace {
		return
	}
	scope := c.Scopes[info.Namespace]
	hooks := info.Hooks
	info.Hooks = nil
	for _, h := range hooks {
		if scope.Permits(h) {
			info.Hooks = append(info.Hooks, h)
		}
	}
	if info.Answers(policy.HookRank) && !scope.FailClosed {
		info.Failure = "" // the defaults: a rank policy is ignored
	}
	info.Match.Scope, info.Match.Namespace = &scope, info.Namespace
}

// scopeText names the NodePools that a policy may touch; "" for all.
func (c *Config) scopeText(namespace string) string {
	if namespace == c.Namespace {
		return ""
	}
	scope := c.Scopes[namespace]
	return scope.Text(namespace)
}

func words(hooks []policy.Hook) string {
	out := make([]string, 0, len(hooks))
	for _, h := range hooks {
		out = append(out, string(h))
	}
	return strings.Join(out, ", ")
}
