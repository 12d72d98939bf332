package resolve

import (
	"context"
	"sync"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
)

// How long an SSM parameter's value is taken for current: those of AWS's own
// images change every few weeks, a user's at any time. A missing one is looked
// for again as soon as a user's.
const (
	aliasFor     = 24 * time.Hour
	parameterFor = 5 * time.Minute
)

// parameterValue is what SSM said last.
type parameterValue struct {
	value string
	err   error
	until time.Time
}

// Parameters reads SSM parameters and keeps their values for a while.
type Parameters struct {
	SSM   client.SSM
	Clock func() time.Time

	mu     sync.Mutex
	values map[string]parameterValue
}

// Get reads an SSM parameter, at most once in the given time. The error has kind
// NotFound when there is no such parameter.
func (p *Parameters) Get(ctx context.Context, name string, current time.Duration) (string, error) {
	now := p.Clock()
	p.mu.Lock()
	known := p.values[name]
	p.mu.Unlock()
	if now.Before(known.until) {
		return known.value, known.err
	}
	value, err := p.getParameter(ctx, name)
	switch {
	case err == nil:
		known = parameterValue{value: value, until: now.Add(current)}
	case provider.KindOf(err) == provider.NotFound:
		known = parameterValue{err: err, until: now.Add(parameterFor)}
	default:
		return "", err
	}
	p.mu.Lock()
	if p.values == nil {
		p.values = map[string]parameterValue{}
	}
	p.values[name] = known
	p.mu.Unlock()
	return known.value, known.err
}

func (p *Parameters) getParameter(ctx context.Context, name string) (string, error) {
	out, err := p.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: sdk.String(name)})
	if err != nil {
		return "", client.Fault(err, "get SSM parameter %s", name)
	}
	if out.Parameter == nil || sdk.ToString(out.Parameter.Value) == "" {
		return "", client.Refuse(provider.NotFound, "get SSM parameter %s: it has no value", name)
	}
	return *out.Parameter.Value, nil
}
