package ec2

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
)

// PlacementGroup is a placement group, ordered under /_sim/placementgroups.
type PlacementGroup struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Strategy is cluster, partition or spread; cluster when empty.
	Strategy   string `json:"strategy,omitempty"`
	Partitions int    `json:"partitions,omitempty"`
}

// placements are the account's placement groups.
type placements struct {
	ids       *ids.Source
	instances *instances
	all       []*PlacementGroup
}

// place makes placement groups, and tells them with their IDs.
func (s *placements) place(all []PlacementGroup) ([]PlacementGroup, error) {
	for i := range all {
		g := &all[i]
		if g.Name == "" || s.find("", g.Name) != nil {
			return nil, fmt.Errorf("make placement group %q: want a name that no other has", g.Name)
		}
		g.Strategy = cmp.Or(g.Strategy, "cluster")
		if g.ID == "" {
			g.ID = s.ids.New("pg")
		}
		kept := *g
		s.all = append(s.all, &kept)
	}
	return all, nil
}

func (s *placements) find(id, name string) *PlacementGroup {
	for _, g := range s.all {
		if id != "" && g.ID == id || name != "" && g.Name == name {
			return g
		}
	}
	return nil
}

// partition is the partition for the next instance of a placement group, which
// go round; 0 where the group has none. A number that is asked for is given.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html
func (s *placements) partition(asked *placementXML) int {
	g := s.find(asked.GroupID, asked.GroupName)
	if g == nil || g.Strategy != "partition" {
		return 0
	}
	if asked.PartitionNumber != nil {
		return *asked.PartitionNumber
	}
	n := 0
	for _, i := range s.instances.order {
		if p := i.spec.data.Placement; p != nil && s.find(p.GroupID, p.GroupName) == g {
			n++
		}
	}
	return n%max(1, g.Partitions) + 1
}

type placementGroupsRequest struct {
	Filters []listing.Filter `query:"Filter"`
	IDs     []string         `query:"GroupId"`
	Names   []string         `query:"GroupName"`
}

type placementGroupXML struct {
	ID         string `xml:"groupId"`
	Name       string `xml:"groupName"`
	State      string `xml:"state"`
	Strategy   string `xml:"strategy"`
	Partitions string `xml:"partitionCount,omitempty"`
}

// describePlacementGroups lists placement groups by ID and name.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribePlacementGroups.html
func (s *placements) describePlacementGroups(_ *operation.Call, in *placementGroupsRequest) (any, error) {
	all := s.all
	if len(in.IDs)+len(in.Names) > 0 {
		all = nil
	}
	for i, asked := range append(slices.Clone(in.IDs), in.Names...) {
		g := s.find(asked, "")
		if i >= len(in.IDs) {
			g = s.find("", asked)
		}
		if g == nil {
			return nil, awserr.New("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", asked)
		}
		all = append(all, g)
	}
	var out struct {
		Items []placementGroupXML `xml:"placementGroupSet>item"`
	}
	for _, g := range all {
		x := placementGroupXML{ID: g.ID, Name: g.Name, State: "available", Strategy: g.Strategy}
		if g.Partitions > 0 {
			x.Partitions = strconv.Itoa(g.Partitions)
		}
		out.Items = append(out.Items, x)
	}
	return out, nil
}
