package isolate

import (
	"bufio"
	"bytes"
	"os"
	"strings"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/confine"
)

// OptionStages, as Config.Option, makes a process that names stages without end, whatever it is asked.
// OptionLaterStages makes one that passes a trial at once and names them in what comes then.
const (
	OptionStages      = "stages without end"
	OptionLaterStages = "stages without end, after a trial"
)

// ServeStages is that process, if this one was started as such.
func ServeStages() {
	if len(os.Args) != 3 || os.Args[1] != Argument || !strings.Contains(os.Args[2], OptionStages) {
		return
	}
	c := &child{out: os.Stdout}
	err := c.sendJSON(kindReady, 0, &confine.Report{})
	if strings.Contains(os.Args[2], OptionLaterStages) {
		if f, _ := receive(bufio.NewReader(os.Stdin), nil, maxReply); bytes.Contains(f.bytes, []byte(`"Trial":true`)) {
			err = c.sendJSON(kindLoaded, f.policy, &loaded{})
		}
	}
	for range time.Tick(10 * time.Millisecond) {
		if err != nil {
			os.Exit(0)
		}
		err = c.send(kindStage, 0, []byte("another"))
	}
}

// OneSecond returns a configuration under which all stages of a trial may take a second.
func OneSecond(option string) Config { return Config{Option: option, trial: time.Second} }

// Deadline is the most wall time of a question.
const Deadline = deadline

// Hurried returns a configuration under which a policy's trial may take less time than it
// usually may.
func Hurried(stage, cpu time.Duration) *Config { return &Config{stage: stage, cpu: cpu} }

// Packed returns a configuration under which no version leaves for a newer one before there was too
// little memory for both.
func Packed(engine string, memory uint64) Config {
	return Config{Engine: engine, Memory: memory, crowd: 100}
}

// Holds returns how many bytes of its process's memory a policy was found to hold.
func Holds(p policy.Compiled) uint64 { return p.(*compiled).holds } //nolint:forcetypeassert // a test

// Loaded reports whether the process that answers has the policy.
func Loaded(p policy.Compiled) bool {
	c := p.(*compiled) //nolint:forcetypeassert // a test
	return c.host.isLoaded(c)
}

// Crowded is crowded.
func Crowded(err error) error { return crowded(err, DefaultMemory) }

// Occupy takes the place of a trial, so that no other trial begins until release is called.
func (e *Engine) Occupy() (release func()) {
	e.trials <- struct{}{}
	return func() { <-e.trials }
}

// Quicken makes all remembered verdicts say that their policy is loaded quickly, on however slow a machine.
func (e *Engine) Quicken() {
	e.verdicts.mu.Lock()
	defer e.verdicts.mu.Unlock()
	for _, v := range e.verdicts.of {
		v.Took = 0
	}
}
