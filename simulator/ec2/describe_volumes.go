package ec2

import (
	"cmp"
	"strconv"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

// volume is an EBS volume of an instance; it lives as long as the instance.
type volume struct {
	id, device, kind string
	size             int
	instance         *instance
}

// volumesOf are the root volume, of 20 GiB unless the mapping says otherwise,
// and those mapped besides.
func (s *reader) volumesOf(i *instance) []volume {
	root := volume{device: i.spec.image.rootDevice, kind: "gp3", size: 20, instance: i}
	var out []volume
	for _, b := range i.spec.data.BlockDeviceMappings {
		if b.Ebs == nil {
			continue
		}
		v := volume{device: b.DeviceName, kind: cmp.Or(b.Ebs.VolumeType, "gp2"), size: 20, instance: i}
		if b.Ebs.VolumeSize != nil {
			v.size = *b.Ebs.VolumeSize
		}
		if v.device == root.device {
			root = v
			continue
		}
		out = append(out, v)
	}
	out = append([]volume{root}, out...)
	for n := range out {
		out[n].id = s.ids.Fixed("vol", i.id, strconv.Itoa(n))
	}
	return out
}

type volumesRequest struct {
	listing.Paging
	Filters        []listing.Filter `query:"Filter"`
	IDs            []string         `query:"VolumeId"`
	IncludeManaged bool             `query:"IncludeManagedResources"`
}

type volumeXML struct {
	ID          string          `xml:"volumeId"`
	Size        int             `xml:"size"`
	Type        string          `xml:"volumeType"`
	Zone        string          `xml:"availabilityZone"`
	Status      string          `xml:"status"`
	Created     string          `xml:"createTime"`
	Attachments []attachmentXML `xml:"attachmentSet>item"`
	Tags        []tag.Tag       `xml:"tagSet>item"`
}

type attachmentXML struct {
	VolumeID   string `xml:"volumeId"`
	InstanceID string `xml:"instanceId"`
	Device     string `xml:"device"`
	Status     string `xml:"status"`
	Delete     bool   `xml:"deleteOnTermination"`
}

// describeVolumes lists the volumes of instances that are not terminated.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeVolumes.html
func (s *reader) describeVolumes(c *operation.Call, in *volumesRequest) (any, error) {
	var all []volume
	byID := make(map[string]volume)
	for _, i := range s.instances.order {
		if !i.visible(c.Now) || i.state(c.Now) == terminated() {
			continue
		}
		for _, v := range s.volumesOf(i) {
			byID[v.id] = v
			all = append(all, v)
		}
	}
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			v, ok := byID[id]
			if !ok {
				return nil, awserr.New("InvalidVolume.NotFound", "The volume '%s' does not exist.", id)
			}
			all = append(all, v)
		}
	}
	found, err := listing.Choose(all, in.Filters, listing.By[volume]{Fields: listing.Fields[volume]{
		"attachment.device":      listing.Is(func(v volume) string { return v.device }),
		"attachment.instance-id": listing.Is(func(v volume) string { return v.instance.id }),
		"attachment.status":      listing.Is(func(volume) string { return "attached" }),
		"availability-zone":      listing.Is(func(v volume) string { return v.instance.spec.zone.Name }),
		"size":                   listing.Is(func(v volume) string { return strconv.Itoa(v.size) }),
		"status":                 listing.Is(func(volume) string { return "in-use" }),
		"volume-id":              listing.Is(func(v volume) string { return v.id }),
		"volume-type":            listing.Is(func(v volume) string { return v.kind }),
	}})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 5, 1000)
	out := struct {
		Volumes   []volumeXML `xml:"volumeSet>item"`
		NextToken string      `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, v := range items {
		out.Volumes = append(out.Volumes, volumeXML{
			ID: v.id, Size: v.size, Type: v.kind, Zone: v.instance.spec.zone.Name, Status: "in-use", Created: v.instance.launched.UTC().Format(time.RFC3339),
			Attachments: []attachmentXML{{v.id, v.instance.id, v.device, "attached", true}},
		})
	}
	return out, err
}
