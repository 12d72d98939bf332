package sim

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// eksOwner is the account that owns the EKS optimized images.
const eksOwner = "602401143452"

type image struct {
	id, name, description string
	arch                  string // x86_64 or arm64, as EC2 says
	windows               bool
	rootDevice            string
	created               time.Time
	deprecated            time.Time
	owner, alias          string
	tags                  tags
}

// release is a published build of the images. The newest is recommended.
type release struct {
	name   string // as in image names
	bottle string // Bottlerocket's own number
	day    time.Time
}

func releases() []release {
	return []release{
		{"v20260601", "1.58.0", time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)},
		{"v20260715", "1.60.1", time.Date(2026, 7, 15, 8, 0, 0, 0, time.UTC)},
	}
}

// addImages publishes the EKS optimized images of the cluster's Kubernetes
// version and its neighbours with their SSM parameters.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html
func (st *state) addImages(cfg *Config) {
	for _, version := range neighbours(cfg.KubernetesVersion) {
		for _, r := range releases() {
			newest := r == releases()[len(releases())-1]
			for _, arch := range []string{"x86_64", "arm64"} {
				st.addLinux(cfg, build{version, arch, r, newest})
			}
			st.addWindows(cfg, build{version, "x86_64", r, newest})
		}
	}
}

// neighbours are four minor versions back and one ahead.
func neighbours(version string) []string {
	major, minor, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(minor)
	if err != nil {
		return []string{version}
	}
	var out []string
	for i := max(n-4, 0); i <= n+1; i++ {
		out = append(out, fmt.Sprintf("%s.%d", major, i))
	}
	return out
}

type build struct {
	version, arch string
	release       release
	newest        bool
}

func (st *state) addLinux(cfg *Config, b build) {
	for _, variant := range []string{"standard", "nvidia", "neuron"} {
		if variant == "neuron" && b.arch == "arm64" {
			continue
		}
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", b.arch, variant, b.version, b.release.name)
		id := st.addImage(cfg, b, name)
		base := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/", b.version, b.arch, variant)
		st.publish(b, base, name, id)
	}
	for _, variant := range []string{"", "-nvidia"} {
		name := fmt.Sprintf("bottlerocket-aws-k8s-%s%s-%s-v%s", b.version, variant, b.arch, b.release.bottle)
		id := st.addImage(cfg, b, name)
		base := fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/", b.version, variant, b.arch)
		st.parameters[base+b.release.bottle+"/image_id"] = id
		if b.newest {
			st.parameters[base+"latest/image_id"] = id
		}
	}
	// Amazon Linux 2 ended with 1.32.
	// https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-deprecation-faqs.html
	if _, minor, _ := strings.Cut(b.version, "."); len(minor) > 2 || minor > "32" {
		return
	}
	suffixes := map[string][]string{"x86_64": {"", "-gpu"}, "arm64": {"-arm64"}}
	for _, suffix := range suffixes[b.arch] {
		name := fmt.Sprintf("amazon-eks%s-node-%s-%s", suffix, b.version, b.release.name)
		id := st.addImage(cfg, b, name)
		st.publish(b, fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/", b.version, suffix), name, id)
	}
}

func (st *state) addWindows(cfg *Config, b build) {
	for _, year := range []string{"2019", "2022", "2025"} {
		name := fmt.Sprintf("Windows_Server-%s-English-Core-EKS_Optimized-%s", year, b.version)
		id := st.addImage(cfg, b, name+"-"+b.release.day.Format("2006.01.02"))
		st.image(id).windows = true
		if b.newest {
			st.parameters["/aws/service/ami-windows-latest/"+name+"/image_id"] = id
		}
	}
}

func (st *state) publish(b build, base, name, id string) {
	st.parameters[base+name+"/image_id"] = id
	if b.newest {
		st.parameters[base+"recommended/image_id"] = id
	}
}

func (st *state) addImage(cfg *Config, b build, name string) string {
	im := &image{
		id: fixedID(cfg.Seed, "ami", cfg.Region, name), name: name, arch: b.arch, rootDevice: "/dev/xvda",
		description: "EKS optimized image, Kubernetes " + b.version, created: b.release.day,
		deprecated: b.release.day.AddDate(2, 0, 0), owner: eksOwner, alias: "amazon", tags: tags{},
	}
	st.images = append(st.images, im)
	return im.id
}

func (st *state) image(id string) *image {
	for _, im := range st.images {
		if im.id == id {
			return im
		}
	}
	return nil
}

// findImage resolves an image ID or resolve:ssm: reference.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-systems-manager-parameter-to-find-AMI.html
func (st *state) findImage(id string) (*image, error) {
	if name, ok := strings.CutPrefix(id, "resolve:ssm:"); ok {
		value, ok := st.parameters[name]
		if !ok {
			return nil, failf(codeInvalidValue, "The parameter '%s' does not exist", name)
		}
		id = value
	}
	if !wellFormedID("ami", id) {
		return nil, failf("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	im := st.image(id)
	if im == nil {
		return nil, failf("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	return im, nil
}

type describeImages struct {
	paged
	ExecutableBy      []string
	Filters           []filter `query:"Filter"`
	IDs               []string `query:"ImageId"`
	Owners            []string `query:"Owner"`
	IncludeDeprecated bool
	IncludeDisabled   bool
}

type imageXML struct {
	ID           string   `xml:"imageId"`
	Name         string   `xml:"name"`
	Description  string   `xml:"description"`
	Architecture string   `xml:"architecture"`
	CreationDate string   `xml:"creationDate"`
	Deprecation  string   `xml:"deprecationTime"`
	State        string   `xml:"imageState"`
	Type         string   `xml:"imageType"`
	OwnerID      string   `xml:"imageOwnerId"`
	OwnerAlias   string   `xml:"imageOwnerAlias,omitempty"`
	Location     string   `xml:"imageLocation"`
	Public       bool     `xml:"isPublic"`
	Platform     string   `xml:"platform,omitempty"`
	Details      string   `xml:"platformDetails"`
	Hypervisor   string   `xml:"hypervisor"`
	Root         string   `xml:"rootDeviceName"`
	RootType     string   `xml:"rootDeviceType"`
	Virt         string   `xml:"virtualizationType"`
	ENA          bool     `xml:"enaSupport"`
	Tags         []tagXML `xml:"tagSet>item"`
}

// answerImages lists images; without owner, all public ones.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeImages.html
func answerImages(s *Server, c *call, in *describeImages) (any, error) {
	all := s.state.images
	if len(in.IDs) > 0 {
		all = nil
		for _, id := range in.IDs {
			im, err := s.state.findImage(id)
			if err != nil {
				return nil, err
			}
			all = append(all, im)
		}
	}
	all = slices.DeleteFunc(slices.Clone(all), func(im *image) bool {
		return !s.owns(im, in.Owners) || (!in.IncludeDeprecated && len(in.IDs) == 0 && c.now.After(im.deprecated))
	})
	found, err := choose(all, in.Filters, tagged[*image]{tags: func(im *image) tags { return im.tags }, fields: imageFields()})
	if err != nil {
		return nil, err
	}
	items, next, err := page(found, in.paged, 1, 1000)
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
func (s *Server) owns(im *image, owners []string) bool {
	if len(owners) == 0 {
		return true
	}
	for _, o := range owners {
		if o == im.owner || o == im.alias || (o == "self" && im.owner == s.cfg.Account) {
			return true
		}
	}
	return false
}

func imageFields() fields[*image] {
	return fields[*image]{
		"architecture":        is(func(im *image) string { return im.arch }),
		"creation-date":       is(func(im *image) string { return im.created.Format(isoMillis) }),
		"description":         is(func(im *image) string { return im.description }),
		"image-id":            is(func(im *image) string { return im.id }),
		"image-type":          is(func(*image) string { return "machine" }),
		"is-public":           is(func(im *image) string { return strconv.FormatBool(im.alias != "") }),
		"name":                is(func(im *image) string { return im.name }),
		"owner-alias":         is(func(im *image) string { return im.alias }),
		"owner-id":            is(func(im *image) string { return im.owner }),
		"platform":            is(func(im *image) string { return im.platform() }),
		"root-device-type":    is(func(*image) string { return "ebs" }),
		"state":               is(func(*image) string { return "available" }),
		"virtualization-type": is(func(*image) string { return "hvm" }),
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
		Root: im.rootDevice, RootType: "ebs", Virt: "hvm", ENA: true, Tags: im.tags.list(),
	}
}
