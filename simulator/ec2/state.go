package ec2

import (
	"maps"
	"time"

	"spokeshave.dev/controller/core/model"
)

// InstanceState is an instance as GET /_sim/state shows it.
type InstanceState struct {
	ID           string             `json:"id"`
	State        string             `json:"state"`
	Type         string             `json:"type"`
	Zone         string             `json:"zone"`
	CapacityType model.CapacityType `json:"capacityType"`
	HourlyUSD    float64            `json:"hourlyUSD"`
	PrivateDNS   string             `json:"privateDNS"`
	Launched     time.Time          `json:"launched"`
	// Reservation is the capacity reservation that it was launched into.
	Reservation string            `json:"capacityReservation,omitempty"`
	Reason      string            `json:"reason,omitempty"`
	UserData    string            `json:"userData,omitempty"`
	Tags        map[string]string `json:"tags"`
}

// Instances are copies of all instances by launch, those terminated within the
// last hour included, with the number that are pending or running and what
// these cost an hour.
func (s *Service) Instances(now time.Time) (all []InstanceState, running int, hourly model.Price) {
	all = []InstanceState{}
	for _, i := range s.instances.order {
		pool := i.spec.option()
		price := s.launcher.market.Price(pool)
		if i.alive(now) {
			running++
			hourly += price
		}
		all = append(all, InstanceState{
			ID: i.id, State: i.state(now).Name, Type: pool.InstanceType, Zone: pool.Zone, CapacityType: pool.CapacityType, HourlyUSD: price.USD(),
			PrivateDNS: i.dns, Launched: i.launched, Reservation: i.drawn(), Reason: i.reason.Message, UserData: i.userData(), Tags: maps.Clone(i.tags),
		})
	}
	return all, running, hourly
}

// Templates are the names of all launch templates, by creation; never nil.
func (s *Service) Templates() []string {
	out := []string{}
	for _, t := range s.templates.all {
		out = append(out, t.name)
	}
	return out
}
