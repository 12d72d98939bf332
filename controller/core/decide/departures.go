package decide

import "time"

// recentDepartures describes the nodes that began to terminate within the last hour.
type recentDepartures struct {
	// secondsSince is the time since the last node of the pool began to terminate,
	// in seconds; -1 when none did.
	secondsSince float64
	// podsOfPool and podsOfCluster count the pods of those nodes.
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
