package sim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// request is the content of Attempt.Request.
type request struct {
	Claim     string            `json:"claim"`
	NodePool  string            `json:"nodePool"`
	NodeClass string            `json:"nodeClass"`
	Ordinal   int               `json:"ordinal"`
	Options   []model.Option    `json:"options"`
	Tags      map[string]string `json:"tags,omitempty"`
}

// Prepare implements provider.Provider.
func (p *Provider) Prepare(ctx context.Context, spec provider.LaunchSpec) (provider.Attempt, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallPrepare); err != nil {
		return provider.Attempt{}, err
	}
	catalog, ok := p.cfg.Catalogs[spec.NodeClass]
	if !ok {
		return provider.Attempt{}, refuse(provider.ClassNotReady, "prepare launch of %s: no node class %s", spec.Claim, spec.NodeClass)
	}
	if len(spec.Options) == 0 {
		return provider.Attempt{}, refuse(provider.Invalid, "prepare launch of %s: no option given", spec.Claim)
	}
	var options []model.Option
	for _, o := range spec.Options {
		if o.CapacityType != spec.Options[0].CapacityType {
			break
		}
		if !sells(&catalog, &o) {
			return provider.Attempt{}, refuse(provider.Invalid, "prepare launch of %s: node class %s does not offer %s %s in %s",
				spec.Claim, spec.NodeClass, o.CapacityType, o.InstanceType, o.Zone)
		}
		options = append(options, o)
	}
	raw, err := json.Marshal(request{
		Claim: spec.Claim, NodePool: spec.NodePool, NodeClass: spec.NodeClass, Ordinal: spec.Ordinal,
		Options: options, Tags: spec.Tags,
	})
	if err != nil {
		return provider.Attempt{}, refuse(provider.Invalid, "prepare launch of %s: encode request: %w", spec.Claim, err)
	}
	sum := sha256.Sum256(raw)
	return provider.Attempt{
		Token:   hex.EncodeToString(sum[:16]),
		Ordinal: spec.Ordinal,
		Claims:  []string{spec.Claim},
		Request: raw,
	}, nil
}

func sells(catalog *model.Catalog, option *model.Option) bool {
	for i := range catalog.Types {
		if catalog.Types[i].Name != option.InstanceType {
			continue
		}
		for _, o := range catalog.Types[i].Offerings {
			if o.Zone == option.Zone && o.CapacityType == option.CapacityType {
				return true
			}
		}
	}
	return false
}

// Launch implements provider.Provider. It starts the first option that is in stock.
func (p *Provider) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.enter(ctx, CallLaunch); err != nil {
		return provider.Instance{}, err
	}
	done, ok := p.outcomes[attempt.Token]
	switch {
	case ok && done.request != string(attempt.Request):
		return provider.Instance{}, refuse(provider.Invalid, "launch %v: token %s was used with another request", attempt.Claims, attempt.Token)
	case !ok:
		done = p.start(attempt)
		p.outcomes[attempt.Token] = done
	}
	if err := p.leave(CallLaunch); err != nil {
		return provider.Instance{}, err
	}
	if done.err != nil {
		return provider.Instance{}, done.err
	}
	return p.view(done.machine), nil
}

func (p *Provider) start(attempt provider.Attempt) outcome {
	done := outcome{request: string(attempt.Request)}
	var req request
	if err := json.Unmarshal(attempt.Request, &req); err != nil {
		done.err = refuse(provider.Invalid, "launch %v: decode request: %w", attempt.Claims, err)
		return done
	}
	now := p.cfg.Clock.Now()
	var sold []model.Option
	for i := range req.Options {
		o := &req.Options[i]
		if p.soldOut[offeringOf(o)] {
			p.shortage[offeringOf(o)] = now.Add(p.cfg.SoldOutFor)
			sold = append(sold, *o)
			continue
		}
		id := fmt.Sprintf("i-%017x", len(p.machines)+1)
		tags := map[string]string{"karpenter.sh/nodeclaim": req.Claim, "karpenter.sh/nodepool": req.NodePool}
		maps.Copy(tags, req.Tags)
		done.machine = &machine{nodeClass: req.NodeClass, Instance: provider.Instance{
			ProviderID:   "sim:///" + o.Zone + "/" + id,
			InstanceType: o.InstanceType,
			Zone:         o.Zone,
			CapacityType: o.CapacityType,
			ImageID:      "image-" + req.NodeClass,
			Hostname:     id + ".sim.internal",
			LaunchTime:   now,
			Tags:         tags,
			Claim:        req.Claim,
			NodePool:     req.NodePool,
		}}
		p.machines = append(p.machines, done.machine)
		return done
	}
	done.err = &provider.Error{
		Kind: provider.InsufficientCapacity, Code: "SoldOut", Offerings: sold,
		Err: fmt.Errorf("launch %s: all %d options are sold out", req.Claim, len(sold)),
	}
	return done
}
