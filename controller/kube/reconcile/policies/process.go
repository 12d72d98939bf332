package policies

import (
	"errors"
	"fmt"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/policy"
)

// Process counts and logs what happens to the processes that Rego policies run in.
type Process struct {
	log      logr.Logger
	restarts prometheus.Counter
	kills    *prometheus.CounterVec
}

// The values of label during.
const (
	duringCompile  = "compile"
	duringQuestion = "question"
)

// NewProcess registers its metrics.
func NewProcess(reg prometheus.Registerer, log logr.Logger) (*Process, error) {
	p := &Process{
		log: log.WithName("policy-process"),
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "spokeshave_policy_process_restarts_total",
			Help: "Starts of the process that Rego policies run in, after it had ended.",
		}),
		kills: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_policy_process_kills_total",
			Help: "Processes that a Rego policy has ended, while it was compiled or asked, by the kind of fault.",
		}, []string{"during", "kind"}),
	}
	if err := errors.Join(reg.Register(p.restarts), reg.Register(p.kills)); err != nil {
		return nil, fmt.Errorf("register metrics of the policy process: %w", err)
	}
	return p, nil
}

// Started is told that the process that answers has started.
func (p *Process) Started(again bool) { //nolint:revive // an event has what it has
	if again {
		p.restarts.Inc()
		p.log.Info("the process of Rego policies has started again")
	}
}

// Refused is told that a policy has ended the process in which it was compiled.
func (p *Process) Refused(info *policy.Info, kind policy.FaultKind) {
	p.kills.WithLabelValues(duringCompile, string(kind)).Inc()
	p.log.Info("a policy was stopped while it was compiled", "policy", info.Namespace+"/"+info.Name, "kind", string(kind))
}

// Killed is told that a policy has ended the process that answers.
func (p *Process) Killed(info *policy.Info, kind policy.FaultKind) {
	p.kills.WithLabelValues(duringQuestion, string(kind)).Inc()
	p.log.Info("a policy has ended the process of Rego policies", "policy", info.Namespace+"/"+info.Name, "kind", string(kind))
}

// Unconfined is told what the kernel lacks to confine the process.
func (p *Process) Unconfined(missing string) {
	p.log.Info("the process of Rego policies is confined in part", "missing", missing)
}
