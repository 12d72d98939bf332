package rego

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/cache"

	"spokeshave.dev/controller/core/policy"
)

// query evaluates the contract's rules of a hook together. Each variable has the
// name of the rule whose value it takes.
type query struct {
	body  ast.Body
	rules []string
}

// newQuery makes a query for those of the rules that the policy defines.
func (p *Policy) newQuery(hook policy.Hook, rules ...string) (query, error) {
	q := query{}
	body := ast.Body{}
	for _, name := range p.defined[hook] {
		for _, want := range rules {
			if want == name {
				q.rules = append(q.rules, name)
				body.Append(ast.Equality.Expr(ast.NewTerm(packageRef(hook).Append(ast.StringTerm(name))), ast.VarTerm(name)))
			}
		}
	}
	if len(q.rules) == 0 {
		return q, nil
	}
	compiled, err := p.compiler.QueryCompiler().Compile(body)
	if err != nil {
		return q, readable(err)
	}
	q.body = compiled
	return q, nil
}

func (q *query) empty() bool { return len(q.rules) == 0 }

// session is the state that the evaluations of one call share.
type session struct {
	policy *Policy
	call   policy.Call
	cancel topdown.Cancel
	txn    storage.Transaction
	seed   io.Reader
	// patterns are those that built-in functions have compiled.
	patterns cache.InterQueryValueCache
}

// ask runs one call with the breaker and the deadline.
func (p *Policy) ask(ctx context.Context, hook policy.Hook, call policy.Call, answer func(context.Context, *session) error) error {
	if !p.info.Answers(hook) {
		return policy.ErrNoOpinion
	}
	if p.breaker == nil {
		return p.visit(ctx, call, answer)
	}
	return p.breaker.Ask(call.Time, func() error { return p.visit(ctx, call, answer) })
}

// visit runs one call with the watch.
func (p *Policy) visit(ctx context.Context, call policy.Call, answer func(context.Context, *session) error) error {
	s := &session{policy: p, call: call, cancel: topdown.NewCancel(), seed: seeded(call.Seed), patterns: newPatterns(ctx)}
	txn, err := p.store.NewTransaction(ctx)
	if err != nil {
		return p.fault(ctx, err, "")
	}
	defer p.store.Abort(ctx, txn)
	s.txn = txn
	w, stop := p.start(ctx, s.cancel)
	defer stop()
	err = guard(func() error { return answer(ctx, s) })
	return p.fault(ctx, err, w.reason())
}

// stopped returns the error of an evaluation that was cancelled between two rows.
func stopped() error {
	return &topdown.Error{Code: topdown.CancelErr, Message: "cancelled"}
}

// guard turns a panic inside the evaluation into an error.
func guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &policy.Fault{Kind: policy.FaultInternal, Message: fmt.Sprintf("panic: %v", r)}
		}
	}()
	return f()
}

// run evaluates a query and calls yield with each rule's value.
func (s *session) run(ctx context.Context, q *query, input *ast.Term, yield func(rule string, value ast.Value) error) error {
	if q.empty() {
		return nil
	}
	answered := false
	err := s.prepare(topdown.NewQuery(q.body)).WithInput(input).Iter(ctx, func(r topdown.QueryResult) error {
		answered = true
		for _, rule := range q.rules {
			term, ok := r[ast.Var(rule)]
			if !ok {
				return &policy.Fault{Kind: policy.FaultInternal, Message: rule + " has no value"}
			}
			if err := yield(rule, term.Value); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !answered {
		err = &policy.Fault{Kind: policy.FaultInternal, Message: "the policy's rules have no value"}
	}
	return err
}

// prepare configures a query. The rule index is disabled: the index of OPA 1.22
// misses rules with "x in {constant, variable}" that hold, and a refusal missed in
// this way would become an approval. Early exit is disabled too: it hides errors,
// depending on the order of rules.
func (s *session) prepare(q *topdown.Query) *topdown.Query {
	return q.WithCompiler(s.policy.compiler).
		WithStore(s.policy.store).
		WithTransaction(s.txn).
		WithCancel(s.cancel).
		WithTime(s.call.Time).
		WithSeed(s.seed).
		WithInterQueryBuiltinValueCache(s.patterns).
		WithStrictBuiltinErrors(true).
		WithIndexing(false).
		WithEarlyExit(false)
}

// fault classifies an error. An error caused by the caller is returned unchanged.
// struck is why the watch stopped the call.
func (p *Policy) fault(ctx context.Context, err error, struck policy.FaultKind) error {
	var fault *policy.Fault
	var eval *topdown.Error
	switch {
	case err == nil:
		return nil
	case topdown.IsCancel(err) && struck == policy.FaultMemory:
		return &policy.Fault{Kind: struck, Message: fmt.Sprintf("stopped: the heap grew by more than %d MiB", p.memory>>20)}
	case topdown.IsCancel(err) && struck != "":
		return &policy.Fault{Kind: struck, Message: fmt.Sprintf("stopped after %s", p.deadline)}
	case errors.As(err, &fault):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &eval):
		kind := policy.FaultTrap
		if eval.Code == topdown.InternalErr {
			kind = policy.FaultInternal
		}
		message := eval.Message
		if eval.Location != nil {
			message = at(eval.Location) + ": " + message
		}
		return &policy.Fault{Kind: kind, Message: message}
	default:
		return &policy.Fault{Kind: policy.FaultInternal, Message: err.Error()}
	}
}

func seeded(seed uint64) io.Reader {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}
