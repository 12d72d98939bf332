package isolate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/metrics"
	"syscall"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/confine"
	"spokeshave.dev/controller/policy/wire"
)

// Argument makes a program that calls Child the process in which policies run.
const Argument = "policy-process"

// processors is how many goroutines of the process run at the same time: the
// evaluation, and the garbage collector beside it.
const processors = 2

// setup is the second argument of the process, in JSON.
type setup struct {
	Limits confine.Limits
	Option string
}

// Build says for which compilation of a policy an engine is made, inside the process.
type Build struct {
	// Option is Config.Option.
	Option string
	// Trial is false when the source has been compiled before, in a process that has
	// ended: its tests need not run again. Notes are those of that compilation.
	Trial bool
	Notes []string
	// Stage reports what the engine is about to do.
	Stage func(name string)
}

// Maker makes the engine. Calls of its policies are counted outside the process.
type Maker func(b *Build) policy.Engine

// Child is called first in main, and in the TestMain of tests. If the program was
// started as the process of policies it serves them and does not return. work does the jobs
// of [Engine.Do]; nil where there are none.
func Child(engine Maker, work Worker) {
	if len(os.Args) != 3 || os.Args[1] != Argument {
		return
	}
	var s setup
	if err := json.Unmarshal([]byte(os.Args[2]), &s); err != nil {
		fmt.Fprintln(os.Stderr, complaint, err)
		os.Exit(2)
	}
	runtime.GOMAXPROCS(processors)
	report := confine.Apply(s.Limits)
	c := &child{engine: engine, work: work, option: s.Option, memory: s.Limits.Memory, out: os.Stdout, policies: map[uint64]policy.Compiled{}}
	if err := c.serve(context.Background(), os.Stdin, &report); err != nil { //nolint:forbidigo // a program begins here
		fmt.Fprintln(os.Stderr, complaint, err)
		os.Exit(2)
	}
	os.Exit(0)
}

// child is the state of the process.
type child struct {
	engine   Maker
	work     Worker
	option   string
	memory   uint64 // the limit, in bytes; 0 for none
	out      io.Writer
	policies map[uint64]policy.Compiled
	question wire.Decoder
	replier  wire.Replier
	answers  []policy.RankAnswer
}

// serve answers frames until the other end closes the pipe.
func (c *child) serve(ctx context.Context, in io.Reader, report *confine.Report) error {
	if err := c.sendJSON(kindReady, 0, report); err != nil {
		return err
	}
	frames := make(chan frame)
	ended := make(chan error, 1)
	// The pipe is read on the side, so that the process ends with the controller also
	// during an evaluation that never does. The buffer is free again when a frame
	// comes, since the next one is sent after the answer.
	go func() {
		r := bufio.NewReaderSize(in, 1<<16)
		var buf []byte
		for {
			f, err := receive(r, buf, maxFrame)
			if errors.Is(err, io.EOF) {
				os.Exit(0)
			}
			if err != nil {
				ended <- err
				return
			}
			buf = f.bytes
			frames <- f
		}
	}()
	for {
		select {
		case err := <-ended:
			return err
		case f := <-frames:
			if err := c.handle(ctx, &f); err != nil {
				return err
			}
		}
	}
}

func (c *child) handle(ctx context.Context, f *frame) error {
	c.tidy()
	switch f.kind {
	case kindLoad:
		return c.load(ctx, f)
	case kindAsk:
		return c.send(kindReply, f.policy, c.answer(ctx, f))
	case kindDrop:
		delete(c.policies, f.policy)
		return nil
	case kindJob:
		return c.job(ctx, f)
	case kindReady, kindStage, kindLoaded, kindReply, kindPart, kindDone:
	}
	return fmt.Errorf("frame of kind %d", f.kind)
}

// tidy collects garbage when the heap takes more than two thirds of the memory. Policies hold half of
// it at most: the one that comes next has the rest, and not what garbage of others leaves.
func (c *child) tidy() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	if c.memory > 0 && sample[0].Value.Uint64() > c.memory/3*2 {
		runtime.GC()
	}
}

func (c *child) load(ctx context.Context, f *frame) error {
	var l load
	if err := json.Unmarshal(f.bytes, &l); err != nil {
		return fmt.Errorf("read a policy: %w", err)
	}
	stage := func(name string) {
		if l.Trial {
			c.send(kindStage, f.policy, []byte(name)) //nolint:errcheck // the answer would not arrive either
		}
	}
	var out loaded
	build := &Build{Option: c.option, Trial: l.Trial, Notes: l.Notes, Stage: stage}
	compiled, err := c.engine(build).Compile(ctx, l.source())
	if err == nil && l.Trial {
		stage("load")
		build.Trial, build.Notes = false, compiled.Stats().Notes
		out.Took, out.Holds, err = c.again(ctx, f, build)
		runtime.KeepAlive(&l)
		runtime.KeepAlive(compiled)
	}
	if err != nil {
		var fault *policy.Fault
		out.Error, out.Late = err.Error(), errors.As(err, &fault) && fault.Kind == policy.FaultDeadline
	} else {
		c.policies[f.policy] = compiled
		out.Guards, out.Notes = compiled.Info().Guards, compiled.Stats().Notes
	}
	return c.sendJSON(kindLoaded, f.policy, &out)
}

// again reads and compiles a policy as the process that answers will, and returns the
// processor time that this takes and how many bytes of the heap the policy holds. Nothing that
// was made before may become garbage meanwhile: it would be taken from what the policy holds.
func (c *child) again(ctx context.Context, f *frame, build *Build) (took time.Duration, holds uint64, err error) {
	empty, before := live(), spent()
	compiled, err := c.compile(ctx, f, build)
	took = spent() - before
	if full := live(); full > empty {
		holds = full - empty
	}
	runtime.KeepAlive(compiled)
	return took, holds, err
}

func (c *child) compile(ctx context.Context, f *frame, build *Build) (policy.Compiled, error) {
	var l load
	if err := json.Unmarshal(f.bytes, &l); err != nil {
		return nil, fmt.Errorf("read a policy: %w", err)
	}
	return c.engine(build).Compile(ctx, l.source()) //nolint:wrapcheck // the policy's mistakes
}

func (l *load) source() *policy.Source {
	return &policy.Source{Info: policy.Info{Name: l.Name, Hooks: l.Hooks}, Files: l.Files, Config: l.Config, Limits: l.Limits}
}

// live returns how many bytes of the heap are in use. What is in a sync.Pool survives one
// collection.
func live() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// spent returns the processor time of this process so far.
func spent() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// answer returns the reply to a question.
func (c *child) answer(ctx context.Context, f *frame) []byte {
	p := c.policies[f.policy]
	if p == nil {
		return c.replier.Error(errors.New("the policy is not loaded"))
	}
	if err := c.question.Open(f.bytes); err != nil {
		return c.replier.Error(err)
	}
	out := c.ask(ctx, p)
	if len(out) > maxReply {
		return c.replier.Error(&policy.Fault{Kind: policy.FaultBadReply, Message: fmt.Sprintf("an answer of %d bytes, at most %d are read", len(out), maxReply)})
	}
	return out
}

func (c *child) ask(ctx context.Context, p policy.Compiled) []byte {
	switch c.question.Hook() {
	case policy.HookRank:
		in := c.question.Rank()
		in.Reuse = c.answers
		answers, err := p.Rank(ctx, in)
		if err != nil {
			return c.replier.Error(err)
		}
		c.answers = answers
		return c.replier.Rank(answers)
	case policy.HookConsolidate:
		answers, err := p.Consolidate(ctx, c.question.Consolidate())
		if err != nil {
			return c.replier.Error(err)
		}
		return c.replier.Consolidate(answers)
	case policy.HookCeiling:
		answer, err := p.Ceiling(ctx, c.question.Ceiling())
		if err != nil {
			return c.replier.Error(err)
		}
		return c.replier.Ceiling(&answer)
	}
	return c.replier.Error(errors.New("unknown hook"))
}

func (c *child) send(k kind, p uint64, b []byte) error {
	f := frame{kind: k, policy: p, bytes: b}
	if err := f.send(c.out); err != nil {
		return fmt.Errorf("write to the pipe: %w", err)
	}
	return nil
}

func (c *child) sendJSON(k kind, p uint64, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return c.send(k, p, b)
}
