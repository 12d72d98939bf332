package rego

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"spokeshave.dev/controller/core/policy"
)

// Name is the engine's name in policy.yaml.
const Name = "rego"

// deadline is the wall time limit of a call. Rego evaluation has no other measure of
// work. A policy may ask for less.
const deadline = 500 * time.Millisecond

// Engine compiles Rego policies. The zero value works.
type Engine struct {
	// OPAOnly disables the compiled evaluator: OPA evaluates every rule for every
	// row. Answers are the same, except for the limit on rows (see the package
	// comment), and calls take longer.
	OPAOnly bool
	// Stage, if set, is told what Compile is about to do, such as "compile" or "test
	// p_test.rego:7".
	Stage func(name string)
	// Serving is set in the process of isolated policies (package isolate) for a source
	// that another process has compiled before. Its tests are not run again, and its
	// calls have no breaker, since the controller has one.
	Serving bool
	// Notes are the notes of that compilation. The rules that they name are left to OPA
	// without another attempt, which may have been long.
	Notes []string
}

func (e *Engine) stage(name string) {
	if e.Stage != nil {
		e.Stage(name)
	}
}

var _ policy.Engine = (*Engine)(nil)

// Policy is a compiled Rego policy.
//
// Size: one method for each question, and one for each step from source to program.
type Policy struct {
	info     policy.Info
	deadline time.Duration
	memory   uint64
	compiler *ast.Compiler
	store    storage.Store
	data     map[string]any
	defined  defined

	rank        rankHook
	consolidate consolidateHook
	ceiling     ceilingHook

	// notes say which settings the rules read that there are not, and which rules OPA
	// evaluates. opaOnly is set when it evaluates all of them.
	notes   []string
	opaOnly bool
	// earlier are the notes of an earlier compilation of the same source.
	earlier []string
	// breaker is nil where somebody else has one.
	breaker *policy.Breaker
}

// Compile parses, checks and compiles the files, and runs the tests in them. The
// error names every mistake found, one per line.
func (e *Engine) Compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	p, err := e.compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (e *Engine) compile(ctx context.Context, src *policy.Source) (*Policy, error) {
	e.stage("parse")
	files, err := parse(src)
	if err != nil {
		return nil, err
	}
	found, err := checkRules(files.modules, src.Info.Hooks)
	if err := errors.Join(append(checkFormats(files.modules), checkFormats(files.tests)...)...); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	p := &Policy{info: src.Info, deadline: deadline, memory: growth, data: files.data, defined: found, opaOnly: e.OPAOnly, earlier: e.Notes, notes: unknownSettings(files.modules, files.data)}
	p.info.Engine, p.info.Guards = Name, slices.Contains(found[policy.HookCeiling], ruleDeny)
	if ask := src.Limits.Deadline; ask > 0 {
		p.deadline = min(p.deadline, ask)
	}
	if ask := src.Limits.Memory; ask > 0 {
		p.memory = min(p.memory, ask)
	}
	p.compiler = ast.NewCompiler().
		WithStrict(true).
		WithCapabilities(capabilities()).
		WithSchemas(schemas(files.modules, src.Info.Hooks)).
		WithUseTypeCheckAnnotations(true)
	e.stage("compile")
	if p.compiler.Compile(files.modules); p.compiler.Failed() {
		return nil, readable(p.compiler.Errors)
	}
	p.store = inmem.NewFromObjectWithOpts(files.data, inmem.OptReturnASTValuesOnRead(true), inmem.OptRoundTripOnWrite(false))
	if !e.Serving {
		if err := p.runTests(ctx, files, e.stage); err != nil {
			return nil, err
		}
	}
	e.stage("evaluate with nothing to decide")
	if err := p.prepare(ctx); err != nil {
		return nil, err
	}
	if !e.Serving {
		p.breaker = new(policy.Breaker)
	}
	return p, nil
}

// prepare makes the queries of every hook and evaluates each of them once.
func (p *Policy) prepare(ctx context.Context) error {
	err := errors.Join(p.prepareRank(ctx), p.prepareConsolidate(ctx), p.prepareCeiling(ctx))
	if err != nil {
		return err
	}
	call := policy.Call{Time: time.Unix(0, 0).UTC()}
	for _, hook := range p.info.Hooks {
		var err error
		switch hook {
		case policy.HookRank:
			_, err = p.Rank(ctx, &policy.RankInput{Call: call})
		case policy.HookConsolidate:
			_, err = p.Consolidate(ctx, &policy.ConsolidateInput{Call: call})
		case policy.HookCeiling:
			_, err = p.Ceiling(ctx, &policy.CeilingInput{Call: call})
		}
		if err != nil {
			return fmt.Errorf("try %s with nothing to decide: %w", hook, err)
		}
	}
	return nil
}

// Info implements policy.Policy.
func (p *Policy) Info() policy.Info { return p.info }

// Stats implements policy.Compiled.
func (p *Policy) Stats() policy.Stats {
	s := policy.Stats{}
	if p.breaker != nil {
		s = p.breaker.Stats()
	}
	s.Notes = p.notes
	return s
}

// Close implements policy.Compiled. A Rego policy holds no resources.
func (p *Policy) Close(context.Context) error { return nil }
