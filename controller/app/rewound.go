package app

import (
	"context"
	"time"

	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/rewound"
)

// rewoundEvery is how often it is looked whether the API server went back in time.
const rewoundEvery = 10 * time.Second

// rewound returns what ends this process when the API server went back in time. A leader
// first compares the instances with what is left, and writes what is stopped and what the
// month has cost, which a new process could not know. stops may be nil.
func (p *components) rewound(stops *breaker.Breaker) *rewound.Watch {
	return &rewound.Watch{
		Live: p.mgr.GetAPIReader(), Clock: p.clock, Namespace: p.options.Namespace, Every: rewoundEvery,
		Ready: func(ctx context.Context, found time.Time) bool {
			if !p.leading() {
				return true
			}
			reviewed := stops.Sync(ctx) == nil && !breaker.Doubted(stops)
			marked, _ := breaker.Restored(stops) // what the next process looks for in the ledger
			return p.spent.Recorded(found, marked) && reviewed
		},
		Tell: func(ctx context.Context, known, good time.Time) error {
			return breaker.Rewound(ctx, stops, known, good)
		},
	}
}
