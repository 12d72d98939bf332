package availability

import (
	"slices"
	"sync"
	"time"
)

// addressesPerNode is how many addresses of its subnet a new node is taken to use within
// the next minutes: one network interface with its addresses, and one that is kept in
// reserve, of a medium instance type. It only decides between subnets.
// https://docs.aws.amazon.com/eks/latest/best-practices/vpc-cni.html
const addressesPerNode = 30

// Addresses counts the free IP addresses of subnets: what EC2 said last, less what was
// launched since. Its methods may be called concurrently; the zero value is ready.
type Addresses struct {
	mu      sync.Mutex
	subnets map[string]subnetCount
}

type subnetCount struct {
	free int
	// launches are those that EC2's count may not contain.
	launches []time.Time
}

// Learn takes over how many addresses of a subnet EC2 says are free.
func (a *Addresses) Learn(subnet string, free int, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.subnets == nil {
		a.subnets = map[string]subnetCount{}
	}
	recent := slices.DeleteFunc(slices.Clone(a.subnets[subnet].launches), func(at time.Time) bool { return now.Sub(at) > countLag })
	a.subnets[subnet] = subnetCount{free, recent}
}

// Take takes note of a node that was launched into a subnet.
func (a *Addresses) Take(subnet string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c, known := a.subnets[subnet]; known {
		c.launches = append(slices.Clone(c.launches), now)
		a.subnets[subnet] = c
	}
}

// Roomiest returns the subnet with the most free addresses, of equal ones the first. A
// subnet of which nothing is known has none. There has to be one.
func (a *Addresses) Roomiest(subnets []string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	free := func(subnet string) int {
		c := a.subnets[subnet]
		return c.free - addressesPerNode*len(c.launches)
	}
	best := subnets[0]
	for _, s := range subnets[1:] {
		if free(s) > free(best) {
			best = s
		}
	}
	return best
}
