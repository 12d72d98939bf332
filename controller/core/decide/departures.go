package decide

import "time"

// recentDepartures is what went within the hour, as a pool's candidates are told.
type recentDepartures struct {
	// secondsSince is the seconds since a node of the pool began to go, -1 if none
	// did.
	secondsSince float64
	// podsOfPool and cluster count the pods of the nodes that went.
	podsOfPool, podsOfCluster int
}

func (d *decider) recentDepartures(pool string) recentDepartures {
	out := recentDepartures{secondsSince: -1}
	for i := range d.s.Departed {
		gone := &d.s.Departed[i]
		age := d.s.Time.Sub(gone.Time)
		if age < 0 || age >= time.Hour {
			continue
		}
		out.podsOfCluster += gone.Pods
		if gone.Pool == pool {
			out.podsOfPool += gone.Pods
			if s := age.Seconds(); out.secondsSince < 0 || s < out.secondsSince {
				out.secondsSince = s
			}
		}
	}
	return out
}
