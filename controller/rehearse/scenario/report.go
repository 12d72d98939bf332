package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"time"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// Report is a decision as `spokeshave simulate -o json` prints it. It is a stable
// interface for scripts. Prices are USD per hour.
//
// Size: one field for each part of the output of simulate -o json.
type Report struct {
	Decision string `json:"decision"`
	// Pods is the number of pods that were pending.
	Pods        int              `json:"pods"`
	Nodes       []ReportNode     `json:"nodes"`
	Existing    []ReportExisting `json:"existing"`
	Unscheduled []ReportUnplaced `json:"unscheduled"`
	HourlyCost  float64          `json:"hourlyCost"`
	// HighestCost is HourlyCost if each node is launched as its dearest option.
	HighestCost float64 `json:"highestHourlyCost"`
	EBSCost     float64 `json:"ebsCost"`
	IPv4Cost    float64 `json:"publicIPv4Cost"`
	// LowerBound is a lower bound on the effective cost of any plan for the new nodes,
	// with volumes and addresses; 0 when not known. Gap is how much more this plan
	// costs, as a share of it.
	LowerBound float64 `json:"lowerBound"`
	Gap        float64 `json:"gap"`
	// Utilisation is, by resource, the share of the new nodes' allocatable amount that
	// is requested.
	Utilisation map[string]float64 `json:"utilisation"`
	Timing      ReportTiming       `json:"timing"`
	// Strategies are the plans that the solver made, in order; one of them was chosen.
	Strategies []ReportStrategy   `json:"strategies"`
	Policies   []ReportPolicy     `json:"policies"`
	Headroom   []decide.CapStatus `json:"headroom,omitempty"`
	Warnings   []string           `json:"warnings,omitempty"`
	// Disruptions are the running nodes that were considered for disruption,
	// Replacements the nodes that would be launched for them, Savings what that saves
	// per hour. They are set only if the decision was made with disruption.
	Disruptions  []ReportDisruption `json:"disruptions,omitempty"`
	Replacements []ReportNode       `json:"replacements,omitempty"`
	Savings      float64            `json:"savings,omitempty"`
	// Claims are the NodeClaims that somebody wrote, in order of age.
	Claims []ReportClaim `json:"claims,omitempty"`
	// Consolidation is set by Consolidate.
	Consolidation *Consolidation `json:"consolidation,omitempty"`
}

// ReportNode is a node that would be launched.
type ReportNode struct {
	Name           string             `json:"name"`
	NodePool       string             `json:"nodePool"`
	InstanceType   string             `json:"instanceType"`
	Zone           string             `json:"zone"`
	CapacityType   model.CapacityType `json:"capacityType"`
	Price          float64            `json:"price"`
	EffectivePrice float64            `json:"effectivePrice"`
	// HighestPrice is the price of the dearest option, of a running node its own.
	HighestPrice float64 `json:"highestPrice"`
	// EBSCost and IPv4Cost are added to the instance's price.
	EBSCost  float64 `json:"ebsCost"`
	IPv4Cost float64 `json:"publicIPv4Cost"`
	// Options is the number of offerings with which the node may be launched.
	Options int      `json:"options"`
	Pods    []string `json:"pods"`
}

// ReportExisting is an existing node onto which pods are planned.
type ReportExisting struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

// ReportUnplaced is a pod that was not placed, and why.
type ReportUnplaced struct {
	Pod     string         `json:"pod"`
	Reasons []model.Reason `json:"reasons"`
}

// ReportTiming is in milliseconds. SolveMs includes RankMs: it covers
// everything from interning through improvement.
type ReportTiming struct {
	// ReadMs is the time for parsing files, SnapshotMs that for making the snapshot.
	ReadMs     float64 `json:"readMs"`
	SnapshotMs float64 `json:"snapshotMs"`
	RankMs     float64 `json:"rankMs"`
	SolveMs    float64 `json:"solveMs"`
	ReviewMs   float64 `json:"reviewMs"`
	TotalMs    float64 `json:"totalMs"`
}

// ReportPolicy is a policy's part in the decision.
type ReportPolicy struct {
	Name   string  `json:"name"`
	Hook   string  `json:"hook"`
	Engine string  `json:"engine"`
	Mode   string  `json:"mode"`
	Calls  int     `json:"calls"`
	Ms     float64 `json:"ms"`
	Denied int     `json:"denied"`
	Faults int     `json:"faults"`
	Fault  string  `json:"fault,omitempty"`
}

// NewReport describes the decision made on the snapshot of o. read and snapshot are how
// long it took to parse the files and to make the snapshot.
func NewReport(o *Objects, s *model.Snapshot, d *decide.Decision, read, snapshot time.Duration) *Report {
	r := &Report{
		Decision: d.ID, Nodes: []ReportNode{}, Existing: []ReportExisting{}, Unscheduled: []ReportUnplaced{}, Policies: []ReportPolicy{},
		Strategies: strategies(d.Stats.Trials),
		Headroom:   d.Headroom, Warnings: d.Warnings,
		Timing: ReportTiming{
			ReadMs: millis(read), SnapshotMs: millis(snapshot), RankMs: millis(d.Timing.Rank), SolveMs: millis(d.Timing.Rank + d.Timing.Solve),
			ReviewMs: millis(d.Timing.Review), TotalMs: millis(read + snapshot + d.Timing.Total),
		},
	}
	r.plan(o, s, &d.Plan)
	r.disruptions(s, d)
	r.Utilisation = utilisation(s, &d.Plan)
	if st := &d.Stats; st.Bound > 0 {
		r.LowerBound, r.Gap = round(st.Bound), round(max(0, (st.Effective+st.Fixed.USD())/st.Bound-1))
	}
	for i := range d.Policies {
		u := &d.Policies[i]
		r.Policies = append(r.Policies, ReportPolicy{
			Name: u.Name, Hook: string(u.Hook), Engine: u.Engine, Mode: string(u.Mode), Calls: u.Calls, Ms: millis(u.Elapsed),
			Denied: u.Denied, Faults: u.Faults, Fault: u.Fault,
		})
	}
	return r
}

func (r *Report) plan(o *Objects, s *model.Snapshot, plan *model.Plan) {
	keys := func(pods []int32) []string {
		out := make([]string, 0, len(pods))
		for _, i := range pods {
			out = append(out, s.Pods[i].Key())
		}
		r.Pods += len(pods)
		return out
	}
	var cost, highest, ebs, ipv4 model.Price
	numbers := map[int32]int{}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		pool := &s.Pools[n.Pool]
		numbers[n.Pool]++
		node := ReportNode{
			Name: fmt.Sprintf("%s-%d", pool.Name, numbers[n.Pool]), NodePool: pool.Name,
			Options: len(n.Options), Pods: keys(n.Pods),
		}
		if len(n.Options) > 0 {
			best := &n.Options[0]
			node.InstanceType, node.Zone, node.CapacityType = best.InstanceType, best.Zone, best.CapacityType
			node.Price, node.EffectivePrice = best.Price.USD(), round(best.Effective)
			node.HighestPrice = n.Worst().USD()
			cost += best.Price
			highest += n.Worst()
		}
		disk, address := o.extras(s, pool)
		node.EBSCost, node.IPv4Cost = disk.USD(), address.USD()
		ebs += disk
		ipv4 += address
		r.Nodes = append(r.Nodes, node)
	}
	r.HourlyCost, r.HighestCost, r.EBSCost, r.IPv4Cost = cost.USD(), highest.USD(), ebs.USD(), ipv4.USD()
	for i := range plan.Existing {
		a := &plan.Existing[i]
		r.Existing = append(r.Existing, ReportExisting{Node: s.Nodes[a.Node].Name, Pods: keys(a.Pods)})
	}
	for i := range plan.Unplaced {
		u := &plan.Unplaced[i]
		reasons := u.Reasons
		if reasons == nil {
			reasons = []model.Reason{}
		}
		r.Unscheduled = append(r.Unscheduled, ReportUnplaced{Pod: keys([]int32{u.Pod})[0], Reasons: reasons})
	}
}

// WriteJSON prints the report as one indented JSON object.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func millis(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Millisecond)*1000) / 1000
}

func round(usd float64) float64 { return math.Round(usd*1e6) / 1e6 }
