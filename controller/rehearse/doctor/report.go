package doctor

import (
	"slices"
	"time"

	"spokeshave.dev/controller/rehearse/wording"
)

// Version of the report's format. Within a version fields are only added.
const formatVersion = 1

// Report is what Examine says. Prices are USD, or CNY in China.
type Report struct {
	Version int       `json:"version"`
	Source  string    `json:"source"`
	Time    time.Time `json:"time"`
	// Karpenter and Spokeshave are the controllers that are installed.
	Karpenter  *Installation `json:"karpenter,omitempty"`
	Spokeshave *Installation `json:"spokeshave,omitempty"`
	// Health is that of Spokeshave, where it is installed.
	Health *Condition `json:"health,omitempty"`
	Pools  []Pool     `json:"nodePools"`
	Claims Claims     `json:"nodeClaims"`
	// Findings are those that need a person first, then by area.
	Findings []Finding `json:"findings"`
	// Same names what stays as it is.
	Same []string `json:"same"`
	// Differences are all decided ones, those that concern this cluster first.
	Differences []Difference `json:"differences"`
	Owned       []Owned      `json:"ownedByOthers"`
	Permissions *Permissions `json:"permissions,omitempty"`
	Money       *Money       `json:"money,omitempty"`
	// Unseen is what the report cannot know.
	Unseen []string `json:"unseen"`
}

// Examine makes the report.
func Examine(in *Input) *Report {
	c := in.Cluster
	table := compatibility()
	r := &Report{
		Version: formatVersion, Source: c.Source, Time: in.Time.UTC(), Karpenter: in.Karpenter, Spokeshave: in.Spokeshave,
		Pools: pools(c), Claims: claims(c), Owned: owned(c), Permissions: in.Permissions, Money: in.Money,
		Same: table.Same, Differences: differences(table, in), Unseen: unseen(in),
	}
	if in.Spokeshave != nil {
		r.Health = condition(in)
	}
	r.Findings = slices.Concat(unreadFindings(c), versionFindings(in), settingFindings(in), poolFindings(c), classFindings(c), claimFindings(c),
		permissionFindings(in.Permissions), healthFindings(in, r.Health), ownedFindings(r.Owned), moneyFindings(in))
	if r.Findings == nil {
		r.Findings = []Finding{}
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		if a.Person != b.Person {
			if a.Person {
				return -1
			}
			return 1
		}
		return slices.Index(areas(), a.Area) - slices.Index(areas(), b.Area)
	})
	return r
}

// NeedsPerson returns how many findings need a person.
func (r *Report) NeedsPerson() int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].Person {
			n++
		}
	}
	return n
}

// Verdict is the report in a sentence.
func (r *Report) Verdict() string {
	switch n := r.NeedsPerson(); {
	case n > 0 && r.Spokeshave != nil:
		return wording.Plural(n, "finding") + " about the running controller or its objects"
	case n > 0:
		return wording.Plural(n, "finding") + " to deal with before the swap"
	case r.Spokeshave != nil:
		return "Spokeshave runs, and nothing is wrong with it"
	case r.Karpenter == nil:
		return "no Karpenter was found, and nothing stands in the way of an installation"
	}
	return "nothing stands in the way of the swap"
}
