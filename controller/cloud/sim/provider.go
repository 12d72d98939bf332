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

// Config describes a simulated cloud. Catalogs and Clock are needed, the rest
// has defaults.
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

// Provider is the simulated cloud. Make it with New.
type Provider struct {
	cfg Config

	mu sync.Mutex
	// machines are kept in launch order, terminated ones included.
	machines []*machine
	// outcomes remembers every attempt by its token, as EC2 does.
	outcomes map[string]outcome
	// soldOut is the state of the cloud, shortage what launches learnt of it
	// (until when).
	soldOut  map[offering]bool
	shortage map[offering]time.Time
	// faults are errors to answer with, first come first served, per call.
	faults map[Call][]fault
	// announced are all events ever, arrived is closed when one comes; troubled
	// is what is told to those who ask.
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
	// stopping is when termination was asked for; zero while it was not.
	stopping time.Time
}

type outcome struct {
	request string
	machine *machine
	err     error
}

// New makes an empty cloud.
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
