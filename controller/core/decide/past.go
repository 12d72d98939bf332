package decide

import "time"

// past is what went within the hour, as a pool's candidates are told.
type past struct {
	// since is the seconds since a node of the pool began to go, -1 if none
	// did.
	since float64
	// pool and cluster count the pods of the nodes that went.
	pool, cluster int
}

func (d *decider) past(pool string) past {
	out := past{since: -1}
	for i := range d.s.Departed {
		gone := &d.s.Departed[i]
		age := d.s.Time.Sub(gone.Time)
		if age < 0 || age >= time.Hour {
			continue
		}
		out.cluster += gone.Pods
		if gone.Pool == pool {
			out.pool += gone.Pods
			if s := age.Seconds(); out.since < 0 || s < out.since {
				out.since = s
			}
		}
	}
	return out
}
