package market

import (
	"context"
	"time"

	"spokeshave.dev/controller/cloud/aws/refresh"
)

// How long what AWS says of its offer is taken for current.
const (
	typesEvery    = 12 * time.Hour
	onDemandEvery = 12 * time.Hour
	spotEvery     = time.Hour
)

// Sources are the parts of the market that are read from AWS. What was read last, at
// first the embedded catalogue, serves until each is read.
func (m *Market) Sources() []*refresh.Source {
	out := []*refresh.Source{
		{What: "instance types", Every: typesEvery, Read: m.readTypes},
		{What: "spot prices", Every: spotEvery, Read: m.readSpot},
	}
	if m.Isolated || !hasPriceList(m.Region) {
		return out
	}
	return append(out,
		&refresh.Source{What: "on-demand prices", Every: onDemandEvery, Read: m.readOnDemand},
		&refresh.Source{What: "volume prices", Every: onDemandEvery, Read: m.readVolumes})
}

// readTypes reads types and their zones together: a type without zones is sold nowhere.
func (m *Market) readTypes(ctx context.Context) (changed bool, err error) {
	facts, err := m.describeTypes(ctx)
	if err != nil {
		return false, err
	}
	zones, err := m.describeZones(ctx)
	if err != nil {
		return false, err
	}
	m.learn(func(a *answers) { a.facts, a.zones = facts, zones })
	return true, nil
}

func (m *Market) readSpot(ctx context.Context) (changed bool, err error) {
	spot, err := m.spotPrices(ctx)
	if err != nil {
		return false, err
	}
	m.learn(func(a *answers) { a.spot = spot })
	return true, nil
}

func (m *Market) readOnDemand(ctx context.Context) (changed bool, err error) {
	onDemand, err := m.onDemandPrices(ctx)
	if err != nil {
		return false, err
	}
	m.learn(func(a *answers) { a.onDemand = onDemand })
	return true, nil
}

func (m *Market) readVolumes(ctx context.Context) (changed bool, err error) {
	volumes, err := m.volumePrices(ctx)
	if err != nil {
		return false, err
	}
	m.learn(func(a *answers) { a.volumes = volumes })
	return true, nil
}
