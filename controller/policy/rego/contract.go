package rego

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"spokeshave.dev/controller/core/policy"
)

// The names of the rules with which policies answer.
const (
	ruleMultiplier = "multiplier"
	ruleAdder      = "adder"
	ruleExclude    = "exclude"
	ruleDeny       = "deny"
	ruleHold       = "hold"
	ruleCost       = "cost"
	ruleCap        = "cap"
)

// ruleset lists the rules of a hook: objects map a key to a value, and sets are sets
// of reasons.
type ruleset struct {
	objects, sets []string
}

func hookRules(h policy.Hook) ruleset {
	switch h {
	case policy.HookRank:
		return ruleset{objects: []string{ruleMultiplier, ruleAdder}, sets: []string{ruleExclude}}
	case policy.HookConsolidate:
		return ruleset{objects: []string{ruleHold, ruleCost}, sets: []string{ruleDeny}}
	case policy.HookCeiling:
		return ruleset{objects: []string{ruleCap}, sets: []string{ruleDeny}}
	}
	return ruleset{}
}

func (r ruleset) names() []string { return slices.Concat(r.objects, r.sets) }

func hooks() []policy.Hook {
	return []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling}
}

func sortedNames(modules map[string]*ast.Module) []string {
	return slices.Sorted(maps.Keys(modules))
}

// defined lists by hook the contract's rules that a policy defines.
type defined map[policy.Hook][]string

// checkRules compares the rules that the modules define with the contract.
func checkRules(modules map[string]*ast.Module, asked []policy.Hook) (defined, error) {
	found, errs := defined{}, []error(nil)
	for _, name := range sortedNames(modules) {
		module := modules[name]
		hook := hookOf(module)
		rules := hookRules(hook)
		for _, rule := range module.Rules {
			ref := rule.Head.Ref()
			root := ref[0].Value.String()
			if !slices.Contains(rules.names(), root) {
				continue
			}
			if err := checkRule(rule, hook, rules); err != nil {
				errs = append(errs, err)
			}
			if !slices.Contains(found[hook], root) {
				found[hook] = append(found[hook], root)
			}
		}
	}
	for _, hook := range hooks() {
		slices.Sort(found[hook])
		switch want := slices.Contains(asked, hook); {
		case want && len(found[hook]) == 0:
			errs = append(errs, fmt.Errorf("hooks lists %s, and package spokeshave.%s defines none of its rules (%s)",
				hook, hook, strings.Join(hookRules(hook).names(), ", ")))
		case !want && len(found[hook]) > 0:
			errs = append(errs, fmt.Errorf("package spokeshave.%s defines %s, and hooks does not list %s: it would never be asked",
				hook, strings.Join(found[hook], ", "), hook))
		}
	}
	return found, errors.Join(errs...)
}

func hookOf(module *ast.Module) policy.Hook {
	for _, hook := range hooks() {
		if module.Package.Path.Equal(packageRef(hook)) {
			return hook
		}
	}
	return ""
}

func packageRef(hook policy.Hook) ast.Ref {
	return ast.Ref{ast.DefaultRootDocument, ast.StringTerm(rootKey), ast.StringTerm(string(hook))}
}

func checkRule(rule *ast.Rule, hook policy.Hook, rules ruleset) error {
	root := rule.Head.Ref()[0].Value.String()
	isSet := rule.Head.RuleKind() == ast.MultiValue
	wrong := func(text string) error { return fmt.Errorf("%s: %s", at(rule.Location), text) }
	switch {
	case len(rule.Head.Args) > 0:
		return wrong(fmt.Sprintf("%s is a rule of the %s contract, not a function", root, hook))
	case slices.Contains(rules.sets, root) && (!isSet || len(rule.Head.Ref()) > 1):
		return wrong(fmt.Sprintf("%s must be a set of reasons: write `%s contains \"reason\" if { … }`", root, root))
	case slices.Contains(rules.objects, root) && (isSet || len(rule.Head.Ref()) < 2):
		key := "reason"
		if root == ruleCap {
			key = "scope"
		}
		return wrong(fmt.Sprintf("%s must be an object: write `%s[%s] := value if { … }`", root, root, key))
	}
	return nil
}
