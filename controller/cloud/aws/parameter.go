package aws

import (
	"context"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ssm"

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

// parameter reads an SSM parameter, at most once in the given time.
func (p *Provider) parameter(ctx context.Context, name string, current time.Duration) (string, error) {
	now := p.cfg.Clock()
	p.mu.Lock()
	known := p.parameters[name]
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
	p.parameters[name] = known
	p.mu.Unlock()
	return known.value, known.err
}

func (p *Provider) getParameter(ctx context.Context, name string) (string, error) {
	out, err := p.sdk.SSM.GetParameter(ctx, &ssm.GetParameterInput{Name: sdk.String(name)})
	if err != nil {
		return "", fault(err, "get SSM parameter %s", name)
	}
	if out.Parameter == nil || sdk.ToString(out.Parameter.Value) == "" {
		return "", refuse(provider.NotFound, "get SSM parameter %s: it has no value", name)
	}
	return *out.Parameter.Value, nil
}
