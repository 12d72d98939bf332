package rego

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"spokeshave.dev/controller/core/policy"
)

// Time limits for one test and for all tests, and the prefix of the names
// of their rules.
const (
	testDeadline  = 2 * time.Second
	testsDeadline = 20 * time.Second
	testPrefix    = "test_"
)

// runTests runs a policy's tests and reports every one that fails. Tests are
// evaluated like the policy itself, and stage is told before each. The clock is the Unix epoch unless a test
// replaces time.now_ns.
func (p *Policy) runTests(ctx context.Context, files *source, stage func(string)) error {
	if len(files.tests) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, testsDeadline)
	defer stop()
	modules := map[string]*ast.Module{}
	for _, each := range []map[string]*ast.Module{files.modules, files.tests} {
		for name, module := range each {
			modules[name] = module.Copy()
			modules[name].Annotations = nil
		}
	}
	tests := &Policy{store: p.store, deadline: testDeadline, memory: p.memory}
	stage("compile the tests")
	tests.compiler = ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities(testBuiltins()...))
	if tests.compiler.Compile(modules); tests.compiler.Failed() {
		return readable(tests.compiler.Errors)
	}
	var failed []error
	seen := map[string]bool{}
	for _, name := range sortedNames(files.tests) {
		for _, rule := range tests.compiler.Modules[name].Rules {
			ref := rule.Ref().GroundPrefix()
			if !strings.HasPrefix(string(rule.Head.Ref()[0].Value.(ast.Var)), testPrefix) {
				continue
			}
			stage("test " + at(rule.Location))
			if err := tests.test(ctx, ref, seen); err != nil {
				failed = append(failed, fmt.Errorf("%s: %s %w", at(rule.Location), rule.Head.Ref()[0], err))
			}
		}
	}
	return errors.Join(failed...)
}

// test runs one test. It passes if the rule is true, or an object of cases that is
// not empty and whose values are all true.
func (p *Policy) test(ctx context.Context, ref ast.Ref, seen map[string]bool) error {
	if seen[ref.String()] {
		return errors.New("is there more than once: give each test a name of its own")
	}
	seen[ref.String()] = true
	body, err := p.compiler.QueryCompiler().Compile(ast.NewBody(ast.Equality.Expr(ast.NewTerm(ref), ast.VarTerm("passed"))))
	if err != nil {
		return readable(err)
	}
	passed := false
	err = p.visit(ctx, policy.Call{Time: time.Unix(0, 0)}, func(ctx context.Context, s *session) error {
		return s.prepare(topdown.NewQuery(body)).Iter(ctx, func(r topdown.QueryResult) error {
			passed = pass(r[ast.Var("passed")].Value)
			return nil
		})
	})
	switch {
	case err != nil:
		return fmt.Errorf("stopped: %w", err)
	case !passed:
		return errors.New("failed")
	}
	return nil
}

func pass(v ast.Value) bool {
	switch v := v.(type) {
	case ast.Boolean:
		return bool(v)
	case ast.Object:
		all := v.Len() > 0
		v.Foreach(func(_, value *ast.Term) { all = all && pass(value.Value) })
		return all
	}
	return false
}
