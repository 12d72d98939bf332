package sim

type describeReservations struct {
	paged
	Filters []filter `query:"Filter"`
	IDs     []string `query:"CapacityReservationId"`
}

// answerReservations says that there is no capacity reservation.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeCapacityReservations.html
func answerReservations(_ *Server, _ *call, in *describeReservations) (any, error) {
	if len(in.IDs) > 0 {
		return nil, failf("InvalidCapacityReservationId.NotFound", "The capacity reservation ID '%s' does not exist", in.IDs[0])
	}
	return struct {
		Items []struct{} `xml:"capacityReservationSet>item"`
	}{}, nil
}

type describePlacementGroups struct {
	Filters []filter `query:"Filter"`
	IDs     []string `query:"GroupId"`
	Names   []string `query:"GroupName"`
}

// answerPlacementGroups says that there is no placement group.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribePlacementGroups.html
func answerPlacementGroups(_ *Server, _ *call, in *describePlacementGroups) (any, error) {
	for _, name := range append(in.Names, in.IDs...) {
		return nil, failf("InvalidPlacementGroup.Unknown", "The Placement Group '%s' is unknown.", name)
	}
	return struct {
		Items []struct{} `xml:"placementGroupSet>item"`
	}{}, nil
}
