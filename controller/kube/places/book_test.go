package places_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"spokeshave.dev/controller/kube/places"
)

func TestBook(t *testing.T) {
	c := clocktesting.NewFakePassiveClock(time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC))
	b := places.New(c)
	for _, step := range []struct {
		reason     string
		pod, claim string
		after      time.Duration
		want       bool
		of         string
	}{
		{"the first to come", "shop/web-1", "x", 0, true, "x"},
		{"the same place again", "shop/web-1", "x", time.Second, true, "x"},
		{"it has a place", "shop/web-1", "y", time.Second, false, "x"},
		{"another pod", "shop/web-2", "y", 0, true, "y"},
		{"long ago: the claim says by now what it has", "shop/web-1", "y", 2 * time.Minute, true, "y"},
	} {
		c.SetTime(c.Now().Add(step.after))
		if got := b.Take(step.pod, step.claim); got != step.want || b.Of(step.pod) != step.of {
			t.Errorf("%s: %s takes a place on %s: %t, has one on %q; want %t, %q", step.reason, step.pod, step.claim, got, b.Of(step.pod), step.want, step.of)
		}
	}
	if of := b.Of("shop/web-2"); of != "" {
		t.Errorf("a place on %s is remembered for more than two minutes", of)
	}
	var none *places.Book
	if !none.Take("shop/web-1", "x") || none.Of("shop/web-1") != "" {
		t.Error("no book knows a place")
	}
}

// TestOnePlace: of many that give a pod a place at once, one does.
func TestOnePlace(t *testing.T) {
	b := places.New(clocktesting.NewFakePassiveClock(time.Unix(0, 0)))
	var all sync.WaitGroup
	var given atomic.Int32
	for i := range 50 {
		all.Go(func() {
			if b.Take("shop/web-1", fmt.Sprint(i)) {
				given.Add(1)
			}
		})
	}
	all.Wait()
	if n := given.Load(); n != 1 {
		t.Errorf("the pod has a place on %d claims", n)
	}
}
