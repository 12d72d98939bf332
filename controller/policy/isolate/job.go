package isolate

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
)

// Job is work about one policy that is done in a process of its own, which ends afterwards.
type Job struct {
	Policy *policy.Info
	// Order and Body are what the Worker is given.
	Order, Body []byte
	// Limit is the wall time of the job. Advice tells the policy's author what to do when
	// the process did not end well.
	Limit  time.Duration
	Advice string
}

// Worker does a job, inside the process. What it writes is read by Engine.Do. Its error is
// the policy's mistake.
type Worker func(ctx context.Context, order, body []byte, out io.Writer) error

// Do does a job in a process with the limits of a trial, in turn with trials. take reads what
// the Worker writes, while it is written; the end of it is io.EOF, and every other error of
// it is about the policy. What take returns is returned when the process has no error. A job is
// interrupted when policies in force wait to be loaded again; another attempt may succeed.
func (e *Engine) Do(ctx context.Context, job *Job, take func(io.Reader) error) error {
	select { // one at a time waits with the trials, so that what the policies in force need does not wait for all
	case e.jobs <- struct{}{}:
		defer func() { <-e.jobs }()
	case <-ctx.Done():
		return fmt.Errorf("wait to compile: %w", ctx.Err())
	}
	leave, err := e.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	ctx, stop := e.running.arm(ctx)
	defer stop()
	err = e.work(ctx, job, take)
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		return errInterrupted
	}
	return e.refused(job.Policy, err, attempt{limit: job.Limit, limitIsOfStage: true, doing: "compiling", advice: job.Advice})
}

// work does a job in a process. The caller has one of the trials.
func (e *Engine) work(ctx context.Context, job *Job, take func(io.Reader) error) error {
	proc, err := start(ctx, e.cfg.setup(e.cfg.cpu))
	if err != nil {
		return err
	}
	defer proc.end(causeCaller)
	if e.host != nil {
		e.host.unconfined(proc.report.String())
	}
	watch := proc.watch(job.Limit)
	defer watch.stop()
	out := &output{ctx: ctx, process: proc, watch: watch}
	if out.err = proc.submit(job); out.err == nil {
		err = take(out)
	}
	if out.err != nil && !errors.Is(out.err, io.EOF) {
		return out.err
	}
	return err
}

// submit sends a job. Its body is not copied: it may have some megabytes.
func (p *process) submit(job *Job) error {
	f := frame{kind: kindJob}
	head := make([]byte, headSize+4, headSize+4+len(job.Order))
	f.put(head, 4+len(job.Order)+len(job.Body))
	binary.LittleEndian.PutUint32(head[headSize:], uint32(len(job.Order)))
	for _, b := range [][]byte{append(head, job.Order...), job.Body} {
		if _, err := p.in.Write(b); err != nil {
			p.end(causeItself)
			return p.death()
		}
	}
	return nil
}

// output reads what a Worker writes. A Read fills its buffer, unless the output ends before.
type output struct {
	ctx     context.Context //nolint:containedctx // it is that of one call of Do
	process *process
	watch   *watch
	rest    []byte // of the last part
	err     error
}

// Read implements io.Reader.
func (o *output) Read(b []byte) (n int, err error) {
	for n < len(b) {
		if len(o.rest) == 0 {
			if o.more(); o.err != nil {
				break
			}
		}
		m := copy(b[n:], o.rest)
		n, o.rest = n+m, o.rest[m:]
	}
	if n == 0 && len(b) > 0 {
		return 0, o.err
	}
	return n, nil
}

// more waits for the next part.
func (o *output) more() {
	if o.err != nil {
		return
	}
	f, err := o.process.next(o.ctx, o.watch, kindPart, kindDone)
	switch {
	case err != nil:
		o.err = err
	case f.kind == kindPart:
		o.rest = f.bytes
	default:
		o.err = finished(f.bytes)
	}
}

// done is what kindDone carries: the policy's mistake, "" if there is none.
type done struct{ Error string }

func finished(b []byte) error {
	var d done
	if err := decode(b, &d); err != nil {
		return err
	}
	if d.Error == "" {
		return io.EOF
	}
	return errors.New(strings.ToValidUTF8(d.Error, "?"))
}

// partSize is the most bytes of a part.
const partSize = 64 << 10

// parts sends what is written to it in parts.
type parts struct{ child *child }

// Write implements io.Writer.
func (p parts) Write(b []byte) (int, error) {
	sent := 0
	for sent < len(b) {
		part := b[sent:min(len(b), sent+partSize)]
		if err := p.child.send(kindPart, 0, part); err != nil {
			return sent, err
		}
		sent += len(part)
	}
	return sent, nil
}

// job does a job, inside the process.
func (c *child) job(ctx context.Context, f *frame) error {
	if c.work == nil || len(f.bytes) < 4 {
		return fmt.Errorf("frame of kind %d", f.kind)
	}
	size, rest := uint64(binary.LittleEndian.Uint32(f.bytes)), f.bytes[4:]
	if size > uint64(len(rest)) {
		return fmt.Errorf("an order of %d bytes in %d", size, len(rest))
	}
	var d done
	if err := c.work(ctx, rest[:size], rest[size:], parts{c}); err != nil {
		d.Error = err.Error()
	}
	b, err := json.Marshal(&d)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return c.send(kindDone, 0, b)
}
