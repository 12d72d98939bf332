package availability

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/refresh"
)

// wantedEvery is how often it is looked whether a class names reservations that this
// process has not heard of.
const wantedEvery = 10 * time.Second

// wanted are the classes with a reservation whose free places are not known, by name.
type wanted struct {
	mu      sync.Mutex
	classes map[string]*awsv1.EC2NodeClass
}

func (w *wanted) add(class *awsv1.EC2NodeClass) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.classes == nil {
		w.classes = map[string]*awsv1.EC2NodeClass{}
	}
	w.classes[class.Name] = class
}

// take returns what is wanted and wants nothing any more.
func (w *wanted) take() map[string]*awsv1.EC2NodeClass {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.classes
	w.classes = nil
	return out
}

// Want has Source ask for the class's reservations when this process has not heard of one
// of them, as after a start or where another controller resolves the classes. A
// reservation that is not known has no room meanwhile.
func (s *Reservations) Want(class *awsv1.EC2NodeClass) {
	if slices.ContainsFunc(class.Status.CapacityReservations, func(r awsv1.CapacityReservation) bool { return !s.places.knows(r.ID) }) {
		s.wanted.add(class)
	}
}

// Source asks for reservations that somebody wants. The others are read whenever their
// class is resolved.
func (s *Reservations) Source() *refresh.Source {
	return &refresh.Source{What: "capacity reservations", Every: wantedEvery, Read: s.learnWanted}
}

// learnWanted asks EC2 how much room the wanted reservations have. What EC2 does not list
// has none until the class is resolved again. After an error the classes are wanted still.
func (s *Reservations) learnWanted(ctx context.Context) (changed bool, err error) {
	var failures []error
	for _, class := range s.wanted.take() {
		if _, err := s.Find(ctx, class); err != nil {
			failures = append(failures, err)
			s.wanted.add(class)
			continue
		}
		changed = true
		for i := range class.Status.CapacityReservations {
			s.places.mention(class.Status.CapacityReservations[i].ID)
		}
	}
	return changed, errors.Join(failures...)
}
