package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// The time that a policy's tests may take, one and all.
const (
	testDeadline  = 2 * time.Second
	testsDeadline = 20 * time.Second
)

// runTests runs the tests that a policy brings along, apart from the compiled
// policy, and reports every one that fails.
func runTests(ctx context.Context, files *source) error {
	if len(files.tests) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, testsDeadline)
	defer cancel()
	modules := map[string]*ast.Module{}
	for _, each := range []map[string]*ast.Module{files.modules, files.tests} {
		for name, module := range each {
			modules[name] = module.Copy()
			modules[name].Annotations = nil
		}
	}
	store := inmem.NewFromObject(files.data)
	txn, err := store.NewTransaction(ctx)
	if err != nil {
		return fmt.Errorf("test: %w", err)
	}
	defer store.Abort(ctx, txn)
	return runModules(ctx, store, txn, modules)
}

func runModules(ctx context.Context, store storage.Store, txn storage.Transaction, modules map[string]*ast.Module) error {
	compiler := ast.NewCompiler().WithStrict(true).WithCapabilities(capabilities(testBuiltins()...))
	results, err := tester.NewRunner().SetParallel(1).SetTimeout(testDeadline).RaiseBuiltinErrors(true).
		CapturePrintOutput(false).SetCompiler(compiler).SetStore(store).SetModules(modules).RunTests(ctx, txn)
	if err != nil {
		return readable(err)
	}
	var failed []string
	for r := range results {
		switch {
		case r == nil || r.Skip || r.Pass():
		case r.Error != nil:
			failed = append(failed, fmt.Sprintf("%s: %s: %v", at(r.Location), r.Name, r.Error))
		default:
			failed = append(failed, fmt.Sprintf("%s: %s failed", at(r.Location), r.Name))
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("test: not done after %s: %w", testsDeadline, err)
	}
	if len(failed) == 0 {
		return nil
	}
	slices.Sort(failed)
	return errors.New(strings.Join(failed, "\n"))
}
