package isolate

import (
	"testing"
	"time"
)

// TestStrikes: a policy that ends its process again and again is asked less and less
// often, whatever it answers in between.
func TestStrikes(t *testing.T) {
	var s strikes
	now := time.Unix(1000, 0)
	for i := range strikesAllowed {
		if err := s.enter(now); err != nil {
			t.Fatalf("off after %d: %v", i, err)
		}
		s.count(now)
		if i+1 < strikesAllowed {
			s.leave(now)
		}
	}
	if !s.open() {
		t.Error("not off")
	}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if err := s.enter(now.Add(pause - 1)); err == nil {
			t.Errorf("asked within %v", pause)
		}
		now = now.Add(pause)
		if err := s.enter(now); err != nil {
			t.Errorf("not asked after %v: %v", pause, err)
		}
		s.leave(now) // another question, which it answers
		if s.open() {
			t.Error("off although it answers")
		}
		s.count(now)
	}
	for range 20 {
		s.count(now)
	}
	if err := s.enter(now.Add(strikeMost)); err != nil {
		t.Errorf("the longest pause is longer than %v: %v", strikeMost, err)
	}
	now = now.Add(strikeForget)
	s.leave(now)
	if s.any() {
		t.Error("never forgotten")
	}
}
