package sim

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Config describes a simulated cloud. Catalogs and Clock are required; the other fields
// have defaults.
type Config struct {
	// Catalogs maps node class names to what they can launch.
	Catalogs map[string]model.Catalog
	Clock    *Clock
	// BootDelay is how long an instance is pending, StopDelay how long it is
	// shutting down; 30 seconds each by default.
	BootDelay time.Duration
	StopDelay time.Duration
	// SoldOutFor is how long an offering found sold out stays unavailable in
	// the catalogue; 3 minutes by default.
	SoldOutFor time.Duration
}

// Provider is the simulated cloud. Use New to create one.
//
// Size: one method for each method of the ports it implements, and one for each thing
// that a test makes happen.
type Provider struct {
	cfg Config

	mu sync.Mutex
	// machines are kept in launch order, terminated ones included.
	machines []*machine
	// outcomes holds the outcome of every attempt by its token, as EC2 does.
	outcomes map[string]outcome
	// soldOut holds the offerings that are out of stock. shortage holds those of which
	// a launch has found it, and until when they are marked as unavailable.
	soldOut  map[offering]bool
	shortage map[offering]time.Time
	// faults are the errors to return, first in first out, by call.
	faults map[Call][]fault
	// announced are all events so far; arrived is closed when another one is added;
	// troubled is what Troubled returns.
	announced, troubled []provider.Event
	arrived             chan struct{}
}

var _ provider.Provider = (*Provider)(nil)

type offering struct {
	instanceType string
	zone         string
	capacityType model.CapacityType
}

func offeringOf(o *model.Option) offering {
	return offering{instanceType: o.InstanceType, zone: o.Zone, capacityType: o.CapacityType}
}

type machine struct {
	provider.Instance
	nodeClass string
	// stopping is when termination was requested, zero if it was not.
	stopping time.Time
}

type outcome struct {
	request string
	machine *machine
	err     error
}

// New returns a cloud without instances.
func New(cfg Config) (*Provider, error) {
	if cfg.Clock == nil {
		return nil, errors.New("simulate cloud: no clock given")
	}
	if len(cfg.Catalogs) == 0 {
		return nil, errors.New("simulate cloud: no catalogue given, nothing could be launched")
	}
	cfg.BootDelay = orDefault(cfg.BootDelay, 30*time.Second)
	cfg.StopDelay = orDefault(cfg.StopDelay, 30*time.Second)
	cfg.SoldOutFor = orDefault(cfg.SoldOutFor, 3*time.Minute)
	cfg.Catalogs = maps.Clone(cfg.Catalogs)
	return &Provider{
		cfg:      cfg,
		outcomes: map[string]outcome{},
		soldOut:  map[offering]bool{},
		shortage: map[offering]time.Time{},
		faults:   map[Call][]fault{},
		arrived:  make(chan struct{}),
	}, nil
}

func orDefault(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}

func refuse(kind provider.Kind, format string, args ...any) error {
	return &provider.Error{Kind: kind, Err: fmt.Errorf(format, args...)}
}
