package isolate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"spokeshave.dev/controller/policy/confine"
)

// startLimit is the wall time within which a process must be ready.
const startLimit = 10 * time.Second

// process is a running process of policies. One goroutine at a time talks to it.
type process struct {
	in     io.WriteCloser
	pipe   *os.File
	out    *bufio.Reader
	buf    []byte
	cmd    *exec.Cmd
	stderr *head
	done   chan struct{} // closed when it has ended

	report confine.Report
	stage  string // what it has said last that it is doing
	// stages is the wall time that the stages of a trial may take in all. 0: it has none to announce.
	stages time.Duration

	mu    sync.Mutex
	cause cause // why this end has ended it
}

// cause says why a process has ended.
type cause int

const (
	causeItself   cause = iota // it ended without being asked to
	causeDeadline              // it took too long
	causeStages                // all stages together took too long
	causeCaller                // the question was withdrawn, or nobody needs it any more
)

// unstarted is the error of start: it is about this machine, and about no policy.
type unstarted struct{ cause error }

// Error implements error.
func (u *unstarted) Error() string { return u.cause.Error() }

// Unwrap returns the cause.
func (u *unstarted) Unwrap() error { return u.cause }

// start starts a process and waits until it is ready. Its errors are *unstarted.
func start(ctx context.Context, s *setup) (*process, error) {
	p, err := tryToStart(ctx, s)
	if err != nil {
		return nil, &unstarted{err}
	}
	return p, nil
}

func tryToStart(ctx context.Context, s *setup) (*process, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode the limits: %w", err)
	}
	p := &process{stderr: &head{}, done: make(chan struct{})}
	p.cmd = exec.Command(self, Argument, string(text)) //nolint:noctx // its life is not that of a call
	p.cmd.Env, p.cmd.Stderr, p.cmd.SysProcAttr = []string{}, p.stderr, attributes()
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	answers, toUs, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a pipe: %w", err), read.Close(), write.Close())
	}
	p.cmd.Stdin, p.cmd.Stdout = read, toUs
	p.in, p.pipe, p.out = write, answers, bufio.NewReaderSize(answers, 1<<16)
	widen(write)
	widen(answers)
	if err := errors.Join(p.run(), read.Close(), toUs.Close()); err != nil {
		return nil, errors.Join(err, write.Close(), answers.Close())
	}
	watch := p.watch(startLimit)
	defer watch.stop()
	f, err := p.next(ctx, watch, kindReady)
	if err == nil {
		err = decode(f.bytes, &p.report)
	}
	if err != nil {
		p.end(causeCaller)
		return nil, fmt.Errorf("start the process of policies: %v", err) //nolint:errorlint // it is no policy's death
	}
	return p, nil
}

// run starts the program. A goroutine waits for its end on the thread that has started
// it, which lives as long: Linux sends the parent-death signal when that thread ends.
func (p *process) run() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait() //nolint:errcheck // ProcessState has it
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", self, err)
	}
	return nil
}

// end kills the process and waits until it is gone. The first cause counts.
func (p *process) end(why cause) {
	p.kill(why)
	<-p.done
	p.in.Close()   //nolint:errcheck // nobody reads it
	p.pipe.Close() //nolint:errcheck // read to its end
}

func (p *process) kill(why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == causeItself {
		p.cause = why
	}
	p.cmd.Process.Kill() //nolint:errcheck // it may have ended
}

// exchange sends a frame whose bytes are written by put, and returns the answer. The
// answer's bytes are valid until the next exchange. Any error means that the process
// has ended.
func (p *process) exchange(ctx context.Context, out *frame, size int, put func([]byte), limit time.Duration, want kind) (frame, error) {
	if cap(p.buf) < headSize+size {
		p.buf = make([]byte, headSize+size)
	}
	b := p.buf[:headSize+size]
	out.put(b, size)
	put(b[headSize:])
	watch := p.watch(limit)
	defer watch.stop()
	if _, err := p.in.Write(b); err != nil {
		p.end(causeItself)
		return frame{}, p.death()
	}
	return p.next(ctx, watch, want)
}

// next reads frames until one of the kinds comes. Only a trial has stages: a frame that
// announces one starts the clock anew.
func (p *process) next(ctx context.Context, watch *watch, want ...kind) (frame, error) {
	release := context.AfterFunc(ctx, func() { p.kill(causeCaller) })
	defer release()
	for {
		f, err := receive(p.out, p.buf, maxReply)
		switch {
		case err != nil:
			p.end(causeItself)
			if ctx.Err() != nil {
				return f, ctx.Err() //nolint:wrapcheck // the caller's own
			}
			return f, p.death()
		case slices.Contains(want, f.kind):
			if cap(f.bytes) > cap(p.buf) {
				p.buf = f.bytes
			}
			return f, nil
		case f.kind == kindStage && p.stages > 0:
			p.stage = strings.ToValidUTF8(string(f.bytes[:min(len(f.bytes), 200)]), "?")
			watch.again()
		default:
			p.end(causeCaller)
			return f, fmt.Errorf("the process of policies sent a frame of kind %d", f.kind)
		}
	}
}

// head keeps the first bytes that are written to it: the Go runtime says there why it
// ended.
type head struct{ text []byte }

// Write implements io.Writer.
func (h *head) Write(b []byte) (int, error) {
	h.text = append(h.text, b[:min(len(b), 1024-len(h.text))]...)
	return len(b), nil
}
