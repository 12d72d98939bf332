package policy

import (
	"errors"

	"spokeshave.dev/sdk/abi"
)

// Registration is what the registering functions return, so that they can
// stand in a package variable.
type Registration struct{}

// The functions a policy may register.
type (
	// RankFunc prices the offerings of one NodePool.
	RankFunc func(pool *Pool, rows Rows, out Verdicts)
	// ConsolidateFunc says which nodes may be disrupted.
	ConsolidateFunc func(candidates Candidates, out Permissions)
	// CeilingFunc caps what scopes may spend and refuses launches. Before the
	// solve there are no launches.
	CeilingFunc func(scopes Scopes, launches Launches, out Caps)
	// ConfigureFunc reads the policy's configuration, once, before any
	// question. Its error reaches the author in the policy's status.
	ConfigureFunc func(config *Config) error
)

// plugin is what this module has registered. WebAssembly exports are plain
// functions, so there is one for the whole module.
type plugin struct {
	rank        RankFunc
	consolidate ConsolidateFunc
	ceiling     CeilingFunc
	configure   ConfigureFunc
	twice       bool
}

var registered plugin //nolint:gochecknoglobals // WebAssembly exports have no receiver

// Rank registers the policy's rank hook.
func Rank(f RankFunc) Registration {
	registered.twice = registered.twice || registered.rank != nil
	registered.rank = f
	return Registration{}
}

// Consolidate registers the policy's consolidate hook.
func Consolidate(f ConsolidateFunc) Registration {
	registered.twice = registered.twice || registered.consolidate != nil
	registered.consolidate = f
	return Registration{}
}

// Ceiling registers the policy's ceiling hook.
func Ceiling(f CeilingFunc) Registration {
	registered.twice = registered.twice || registered.ceiling != nil
	registered.ceiling = f
	return Registration{}
}

// Configure registers a function for the policy's configuration. A policy
// without one refuses any configuration.
func Configure(f ConfigureFunc) Registration {
	registered.twice = registered.twice || registered.configure != nil
	registered.configure = f
	return Registration{}
}

// Setup hands a configuration (JSON, may be empty) to the registered function
// and checks that the hooks which will be asked (bits 1<<abi.Hook) are
// registered. The SDK calls it; tests do through policytest.
func Setup(hooks uint16, config []byte) error {
	if registered.twice {
		return errors.New("a hook is registered twice")
	}
	for _, h := range []struct {
		hook abi.Hook
		name string
		have bool
	}{
		{abi.HookRank, "rank", registered.rank != nil},
		{abi.HookConsolidate, "consolidate", registered.consolidate != nil},
		{abi.HookCeiling, "ceiling", registered.ceiling != nil},
	} {
		if hooks&(1<<h.hook) != 0 && !h.have {
			return errors.New("policy.yaml lists the hook " + h.name + ", which the module does not register")
		}
	}
	c, err := parseConfig(config)
	if err != nil {
		return err
	}
	if registered.configure != nil {
		// A wrong type or an unknown key explains more than what follows from it.
		if err := registered.configure(c); err != nil && c.Err() == nil {
			return err
		}
	}
	return c.Err()
}

// Handle answers a batch in place. The SDK calls it; tests do through
// policytest.
func Handle(batch []byte) abi.Status {
	s := &current
	if err := s.open(batch); err != nil {
		return abi.Refused
	}
	switch {
	case s.batch.Hook == abi.HookRank && registered.rank != nil:
		s.pool.read(s)
		registered.rank(&s.pool, Rows{s}, Verdicts{s})
	case s.batch.Hook == abi.HookConsolidate && registered.consolidate != nil:
		registered.consolidate(Candidates{s}, Permissions{s})
	case s.batch.Hook == abi.HookCeiling && registered.ceiling != nil:
		registered.ceiling(Scopes{s}, Launches{s}, Caps{s})
	default:
		return abi.NoOpinion
	}
	return s.status()
}
