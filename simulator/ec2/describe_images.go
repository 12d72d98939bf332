package ec2

import (
	"slices"
	"strconv"

	"spokeshave.dev/simulator/listing"
	"spokeshave.dev/simulator/operation"
	"spokeshave.dev/simulator/tag"
)

type imagesRequest struct {
	listing.Paging
	ExecutableBy      []string
	Filters           []listing.Filter `query:"Filter"`
	IDs               []string         `query:"ImageId"`
	Owners            []string         `query:"Owner"`
	IncludeDeprecated bool
	IncludeDisabled   bool
}

// imageXML is an image as DescribeImages answers it.
//
// Size: one field for each element of EC2's answer.
type imageXML struct {
	ID           string    `xml:"imageId"`
	Name         string    `xml:"name"`
	Description  string    `xml:"description"`
	Architecture string    `xml:"architecture"`
	CreationDate string    `xml:"creationDate"`
	Deprecation  string    `xml:"deprecationTime"`
	State        string    `xml:"imageState"`
	Type         string    `xml:"imageType"`
	OwnerID      string    `xml:"imageOwnerId"`
	OwnerAlias   string    `xml:"imageOwnerAlias,omitempty"`
	Location     string    `xml:"imageLocation"`
	Public       bool      `xml:"isPublic"`
	Platform     string    `xml:"platform,omitempty"`
	Details      string    `xml:"platformDetails"`
	Hypervisor   string    `xml:"hypervisor"`
	Root         string    `xml:"rootDeviceName"`
	RootType     string    `xml:"rootDeviceType"`
	Virt         string    `xml:"virtualizationType"`
	ENA          bool      `xml:"enaSupport"`
	Tags         []tag.Tag `xml:"tagSet>item"`
}

// describeImages lists images; without owner, all public ones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html
func (s *images) describeImages(c *operation.Call, in *imagesRequest) (any, error) {
	all := s.all
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			im, err := s.find(id)
			if err != nil {
				return nil, err
			}
			all = append(all, im)
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(im *image) bool {
		return !s.owns(im, in.Owners) || (!in.IncludeDeprecated && len(in.IDs) == 0 && c.Now.After(im.deprecated))
	})
	found, err := listing.Choose(all, in.Filters, listing.By[*image]{Tags: func(im *image) tag.Set { return im.tags }, Fields: imageFields()})
	if err != nil {
		return nil, err
	}
	items, next, err := listing.Page(found, in.Paging, 1, 1000)
	out := struct {
		Images    []imageXML `xml:"imagesSet>item"`
		NextToken string     `xml:"nextToken,omitempty"`
	}{NextToken: next}
	for _, im := range items {
		out.Images = append(out.Images, im.xml())
	}
	return out, err
}

// owns says whether the image belongs to one of the owners: an account, self
// or an alias. No owner means any.
func (s *images) owns(im *image, owners []string) bool {
	if len(owners) == 0 {
		return true
	}
	for _, o := range owners {
		if o == im.owner || o == im.alias || (o == "self" && im.owner == s.account.ID) {
			return true
		}
	}
	return false
}

func imageFields() listing.Fields[*image] {
	return listing.Fields[*image]{
		"architecture":        listing.Is(func(im *image) string { return im.arch }),
		"creation-date":       listing.Is(func(im *image) string { return im.created.Format(isoMillis) }),
		"description":         listing.Is(func(im *image) string { return im.description }),
		"image-id":            listing.Is(func(im *image) string { return im.id }),
		"image-type":          listing.Is(func(*image) string { return "machine" }),
		"is-public":           listing.Is(func(im *image) string { return strconv.FormatBool(im.alias != "") }),
		"name":                listing.Is(func(im *image) string { return im.name }),
		"owner-alias":         listing.Is(func(im *image) string { return im.alias }),
		"owner-id":            listing.Is(func(im *image) string { return im.owner }),
		"platform":            listing.Is(func(im *image) string { return im.platform() }),
		"root-device-type":    listing.Is(func(*image) string { return "ebs" }),
		"state":               listing.Is(func(*image) string { return "available" }),
		"virtualization-type": listing.Is(func(*image) string { return "hvm" }),
	}
}

func (im *image) platform() string {
	if im.windows {
		return "windows"
	}
	return ""
}

func (im *image) details() string {
	if im.windows {
		return "Windows"
	}
	return "Linux/UNIX"
}

// isoMillis is how EC2 writes times in text fields.
const isoMillis = "2006-01-02T15:04:05.000Z"

func (im *image) xml() imageXML {
	return imageXML{
		ID: im.id, Name: im.name, Description: im.description, Architecture: im.arch,
		CreationDate: im.created.Format(isoMillis), Deprecation: im.deprecated.Format(isoMillis),
		State: "available", Type: "machine", OwnerID: im.owner, OwnerAlias: im.alias, Location: im.alias + "/" + im.name,
		Public: im.alias != "", Platform: im.platform(), Details: im.details(), Hypervisor: "xen",
		Root: im.rootDevice, RootType: "ebs", Virt: "hvm", ENA: true, Tags: im.tags.List(),
	}
}
