package app

import "spokeshave.dev/controller/policy"

type none struct{}

func (none) Policies() []policy.Policy { return nil }
func (none) Missing() []string         { return nil }

func (p *parts) loader() (none, error) { return none{}, nil }
