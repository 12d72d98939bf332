package wasm

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/wasm/meter"
	"spokeshave.dev/controller/policy/wire"
	"spokeshave.dev/sdk/abi"
)

// Name is the engine's name in policy.yaml.
const Name = "wasm"

// Engine compiles WebAssembly policies. The zero value works.
type Engine struct {
	// Log, when set, receives what policies write, one line at a time.
	Log func(info *policy.Info, line string)
	// CacheDir, when set, is a folder in which compiled modules are kept by content,
	// so that a restart need not compile them again. Anyone who can write to it can
	// run code in the controller.
	CacheDir string
	// Memory is how many bytes the compiled code and the instances of all policies may use
	// together; 0 for no limit. A policy for which there is no room is refused.
	Memory uint64

	// Elsewhere, when set, compiles modules in another process, so that what compiling takes
	// is not taken from this one.
	Elsewhere Elsewhere

	// patience replaces the wall deadline of setup in tests in which fuel must run
	// out first, however busy the machine is.
	patience time.Duration

	book book
	// compiling is held during a compilation in this process: each may allocate 100 MB and more.
	compiling sync.Mutex

	opening, tidying sync.Once
	cache            wazero.CompilationCache
	broken           error
}

// compiled opens the cache folder on the first call; nil without a folder.
func (e *Engine) compiled() (wazero.CompilationCache, error) {
	e.opening.Do(func() {
		if e.CacheDir == "" {
			return
		}
		if e.cache, e.broken = wazero.NewCompilationCacheWithDir(e.CacheDir); e.broken != nil {
			e.broken = fmt.Errorf("open the cache of compiled modules: %w", e.broken)
		}
	})
	return e.cache, e.broken
}

var _ policy.Engine = (*Engine)(nil)

// Policy is a compiled module with its instances.
type Policy struct {
	info    policy.Info
	config  []byte
	limits  limits
	log     func(*policy.Info, string)
	runtime wazero.Runtime
	code    wazero.CompiledModule
	pool    *pool
	breaker policy.Breaker
	// native is how many bytes the compiled code takes, 0 if unknown.
	native uint64
	// revision is what native and the size of an instance follow from.
	revision revision
	// release frees the memory that is booked for the code and the instances.
	release func()
}

// revision identifies a module under its limits.
type revision struct {
	module [sha256.Size]byte
	limits meter.Limits
}

// Compile checks, meters and compiles a module. It then starts and configures a
// first instance and asks it one empty question per hook.
func (e *Engine) Compile(ctx context.Context, src *policy.Source) (policy.Compiled, error) {
	p, err := e.compile(ctx, src)
	if err != nil {
		return nil, err
	}
	return p, nil
}

func (e *Engine) compile(ctx context.Context, src *policy.Source) (*Policy, error) {
	if len(src.Module) == 0 {
		return nil, errors.New("no module: module.wasm or module.wasm.gz is needed")
	}
	if len(src.Config) > maxConfig {
		return nil, fmt.Errorf("config of %d bytes, at most %d are allowed", len(src.Config), maxConfig)
	}
	bounds, err := lower(src.Limits)
	if err != nil {
		return nil, err
	}
	if e.patience > 0 {
		bounds.setup.deadline = e.patience
	}
	p := &Policy{info: src.Info, config: src.Config, limits: bounds, log: e.Log, release: func() {}}
	p.revision = revision{sha256.Sum256(src.Module), bounds.module}
	p.info.Engine, p.info.Guards = Name, src.Info.Answers(policy.HookCeiling)
	if err := e.build(ctx, p, src); err != nil {
		p.release()
		if p.runtime != nil {
			err = errors.Join(err, p.runtime.Close(ctx))
		}
		return nil, err
	}
	return p, nil
}

// build compiles the module, books memory for its instances and tries it out.
func (e *Engine) build(ctx context.Context, p *Policy, src *policy.Source) error {
	if e.Memory > 0 {
		if err := e.book.known(p, e.Memory); err != nil {
			return err
		}
	}
	compile := e.here
	if e.Elsewhere != nil {
		compile = e.fetch
	}
	if err := compile(ctx, p, src); err != nil {
		return err
	}
	if e.Memory > 0 {
		most, _ := p.code.ExportedMemories()[abi.ExportMemory].Max()
		guests, err := e.book.reserve(p, uint64(most)*pageSize, e.Memory)
		if err != nil {
			return err
		}
		p.limits.guests, p.release = guests, func() { e.book.release(p) }
	}
	p.pool = newPool(p.limits.guests, p.newInstance)
	return p.tryOut(ctx)
}

// here meters and compiles a module in this process.
func (e *Engine) here(ctx context.Context, p *Policy, src *policy.Source) error {
	m, err := metered(src.Module, p.limits.module, src.Info.Hooks)
	if err != nil {
		return err
	}
	cache, err := e.compiled()
	if err != nil {
		return err
	}
	e.compiling.Lock()
	defer e.compiling.Unlock()
	return e.code(ctx, p, m.Bytes, cache)
}

// code compiles a metered module, or loads its code from the cache, if there is one.
func (e *Engine) code(ctx context.Context, p *Policy, module []byte, cache wazero.CompilationCache) (err error) {
	if p.runtime, p.code, err = compileModule(ctx, module, p.limits.module.Pages, cache); err != nil {
		return err
	}
	return provide(ctx, p.runtime)
}

// compileModule compiles a module in a runtime of its own, which is returned in any case.
func compileModule(ctx context.Context, module []byte, pages uint32, cache wazero.CompilationCache) (wazero.Runtime, wazero.CompiledModule, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2).
		WithMemoryLimitPages(pages).
		WithDebugInfoEnabled(false)
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	code, err := r.CompileModule(ctx, module)
	if err != nil {
		return r, nil, fmt.Errorf("module: %w", err)
	}
	return r, code, nil
}

// tryOut asks one empty question per hook, so that a policy that cannot answer even
// these is never put into force.
func (p *Policy) tryOut(ctx context.Context) error {
	i, err := p.pool.take(ctx)
	if err != nil {
		return err
	}
	for _, h := range p.info.Hooks {
		q := p.question(h, policy.Call{Time: time.Unix(0, setupMoment().nanos)})
		switch h {
		case policy.HookRank:
			q.layOut = func(e *wire.Encoder) (int, error) { return e.Rank(&policy.RankInput{}) }
		case policy.HookConsolidate:
			q.layOut = func(e *wire.Encoder) (int, error) { return e.Consolidate(&policy.ConsolidateInput{}) }
		case policy.HookCeiling:
			q.layOut = func(e *wire.Encoder) (int, error) { return e.Ceiling(&policy.CeilingInput{}) }
		}
		q.decode = func(*wire.Encoder, []byte) error { return nil }
		if err := i.ask(ctx, &q); err != nil && !errors.Is(err, policy.ErrNoOpinion) {
			p.pool.discard(ctx, i)
			return fmt.Errorf("try %s with an empty batch: %w", h, err)
		}
	}
	p.pool.give(ctx, i)
	return nil
}

// Info implements policy.Policy.
func (p *Policy) Info() policy.Info { return p.info }

// Stats implements policy.Compiled.
func (p *Policy) Stats() policy.Stats { return p.breaker.Stats() }

// Close implements policy.Compiled. The compiled code is freed by the garbage
// collector once no decision holds the policy.
func (p *Policy) Close(ctx context.Context) error {
	p.release()
	return p.pool.close(ctx)
}

// Rank implements policy.Policy.
func (p *Policy) Rank(ctx context.Context, in *policy.RankInput) (answers []policy.RankAnswer, err error) {
	q := p.question(policy.HookRank, in.Call)
	q.layOut = func(e *wire.Encoder) (int, error) { return e.Rank(in) }
	q.decode = func(e *wire.Encoder, reply []byte) (err error) {
		answers, err = e.RankAnswers(reply, in.Reuse)
		return err
	}
	err = p.ask(ctx, &q)
	return answers, err
}

// Consolidate implements policy.Policy.
func (p *Policy) Consolidate(ctx context.Context, in *policy.ConsolidateInput) (answers []policy.ConsolidateAnswer, err error) {
	q := p.question(policy.HookConsolidate, in.Call)
	q.layOut = func(e *wire.Encoder) (int, error) { return e.Consolidate(in) }
	q.decode = func(e *wire.Encoder, reply []byte) (err error) {
		answers, err = e.ConsolidateAnswers(reply)
		return err
	}
	err = p.ask(ctx, &q)
	return answers, err
}

// Ceiling implements policy.Policy.
func (p *Policy) Ceiling(ctx context.Context, in *policy.CeilingInput) (answer policy.CeilingAnswer, err error) {
	q := p.question(policy.HookCeiling, in.Call)
	q.layOut = func(e *wire.Encoder) (int, error) { return e.Ceiling(in) }
	q.decode = func(e *wire.Encoder, reply []byte) (err error) { answer, err = e.CeilingAnswers(reply); return err }
	err = p.ask(ctx, &q)
	return answer, err
}

// question is one call of a hook.
type question struct {
	hook   policy.Hook
	call   policy.Call
	budget budget
	layOut func(*wire.Encoder) (size int, err error)
	decode func(*wire.Encoder, []byte) error
}

func (p *Policy) question(h policy.Hook, call policy.Call) question {
	return question{hook: h, call: call, budget: p.limits.hooks[h]}
}

func (p *Policy) ask(ctx context.Context, q *question) error {
	if !p.info.Answers(q.hook) {
		return policy.ErrNoOpinion
	}
	return p.breaker.Ask(q.call.Time, func() error {
		i, err := p.pool.take(ctx)
		if err != nil {
			return err
		}
		err = i.ask(ctx, q)
		p.breaker.Fuel(i.used(q.budget))
		p.relay(i.call.log.String())
		if sound(err) {
			p.pool.give(ctx, i)
		} else {
			p.pool.discard(ctx, i)
		}
		return err
	})
}

// relay passes what the guest wrote to the engine's log.
func (p *Policy) relay(text string) {
	if p.log == nil || text == "" {
		return
	}
	for line := range strings.Lines(text) {
		p.log(&p.info, wire.Clean([]byte(line)))
	}
}

// ask asks one question on an instance.
func (i *instance) ask(ctx context.Context, q *question) error {
	size, err := q.layOut(&i.encoder)
	if err != nil {
		return err
	}
	at := moment{nanos: q.call.Time.UnixNano(), seed: q.call.Seed}
	return i.visit(ctx, q.budget, at, func(ctx context.Context) error {
		ptr, room, err := i.room(ctx, size)
		if err != nil {
			return err
		}
		i.encoder.Put(room)
		status, err := i.invoke(ctx, i.hooks[q.hook], uint64(ptr), uint64(size))
		if err != nil {
			return err
		}
		reply, ok := i.memory.Read(ptr, uint32(size)) // the memory may have grown since room
		if !ok {                                      // memory never shrinks
			return &policy.Fault{Kind: policy.FaultBadReply, Message: "the batch is gone"}
		}
		switch s := abi.Status(uint32(status)); s {
		case abi.Answered:
			return q.decode(&i.encoder, reply)
		case abi.NoOpinion:
			return policy.ErrNoOpinion
		case abi.Refused, abi.Failed:
			return &statusError{policy.Fault{Kind: policy.FaultInternal, Message: said(s, i.encoder.Failure(reply))}}
		default:
			return &policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf("unknown status %d", int32(s))}
		}
	})
}

func said(s abi.Status, text string) string {
	verb := "failed"
	if s == abi.Refused {
		verb = "refused the input"
	}
	if text == "" {
		return verb
	}
	return verb + ": " + text
}

// statusError is a fault that a guest reported with a status. Its instance can still
// be used.
type statusError struct{ fault policy.Fault }

func (e *statusError) Error() string { return e.fault.Error() }
func (e *statusError) Unwrap() error { return &e.fault }

// sound reports whether an instance may be asked again after this outcome.
func sound(err error) bool {
	var orderly *statusError
	return err == nil || errors.Is(err, policy.ErrNoOpinion) || errors.As(err, &orderly)
}
