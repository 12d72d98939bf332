package ec2

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/tag"
)

// eksOwner is the account that owns the EKS optimized images.
const eksOwner = "602401143452"

// image is a machine image.
type image struct {
	id, name, description string
	arch                  string // x86_64 or arm64, as EC2 says
	windows               bool
	rootDevice            string
	created               time.Time
	deprecated            time.Time
	owner, alias          string
	tags                  tag.Set
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

// images are the machine images of the region, and the SSM parameters that name
// them.
type images struct {
	account    ids.Account
	ids        *ids.Source
	all        []*image
	parameters map[string]string // path to image ID
}

// newImages publishes the EKS optimized images of the cluster's Kubernetes
// version and its neighbours with their SSM parameters.
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id-bottlerocket.html
func newImages(cfg *Config) *images {
	s := &images{account: cfg.Account, ids: cfg.IDs, parameters: make(map[string]string)}
	for _, version := range neighbours(cfg.KubernetesVersion) {
		for _, r := range releases() {
			newest := r == releases()[len(releases())-1]
			for _, arch := range []string{"x86_64", "arm64"} {
				s.addLinux(build{version, arch, r, newest})
			}
			s.addWindows(build{version, "x86_64", r, newest})
		}
	}
	return s
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

// build is one release of one Kubernetes version for one architecture.
type build struct {
	version, arch string
	release       release
	newest        bool
}

func (s *images) addLinux(b build) {
	for _, variant := range []string{"standard", "nvidia", "neuron"} {
		if variant == "neuron" && b.arch == "arm64" {
			continue
		}
		name := fmt.Sprintf("amazon-eks-node-al2023-%s-%s-%s-%s", b.arch, variant, b.version, b.release.name)
		id := s.addImage(b, name)
		base := fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2023/%s/%s/", b.version, b.arch, variant)
		s.publish(b, base, name, id)
	}
	for _, variant := range []string{"", "-nvidia"} {
		name := fmt.Sprintf("bottlerocket-aws-k8s-%s%s-%s-v%s", b.version, variant, b.arch, b.release.bottle)
		id := s.addImage(b, name)
		base := fmt.Sprintf("/aws/service/bottlerocket/aws-k8s-%s%s/%s/", b.version, variant, b.arch)
		s.parameters[base+b.release.bottle+"/image_id"] = id
		if b.newest {
			s.parameters[base+"latest/image_id"] = id
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
		id := s.addImage(b, name)
		s.publish(b, fmt.Sprintf("/aws/service/eks/optimized-ami/%s/amazon-linux-2%s/", b.version, suffix), name, id)
	}
}

func (s *images) addWindows(b build) {
	for _, year := range []string{"2019", "2022", "2025"} {
		name := fmt.Sprintf("Windows_Server-%s-English-Core-EKS_Optimized-%s", year, b.version)
		id := s.addImage(b, name+"-"+b.release.day.Format("2006.01.02"))
		s.byID(id).windows = true
		if b.newest {
			s.parameters["/aws/service/ami-windows-latest/"+name+"/image_id"] = id
		}
	}
}

func (s *images) publish(b build, base, name, id string) {
	s.parameters[base+name+"/image_id"] = id
	if b.newest {
		s.parameters[base+"recommended/image_id"] = id
	}
}

func (s *images) addImage(b build, name string) string {
	im := &image{
		id: s.ids.Fixed("ami", s.account.Region, name), name: name, arch: b.arch, rootDevice: "/dev/xvda",
		description: "EKS optimized image, Kubernetes " + b.version, created: b.release.day,
		deprecated: b.release.day.AddDate(2, 0, 0), owner: eksOwner, alias: "amazon", tags: tag.Set{},
	}
	s.all = append(s.all, im)
	return im.id
}

func (s *images) byID(id string) *image {
	for _, im := range s.all {
		if im.id == id {
			return im
		}
	}
	return nil
}

// find resolves an image ID or resolve:ssm: reference.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-systems-manager-parameter-to-find-AMI.html
func (s *images) find(id string) (*image, error) {
	if name, ok := strings.CutPrefix(id, "resolve:ssm:"); ok {
		value, ok := s.parameters[name]
		if !ok {
			return nil, awserr.New(awserr.InvalidValue, "The parameter '%s' does not exist", name)
		}
		id = value
	}
	if !ids.WellFormed("ami", id) {
		return nil, awserr.New("InvalidAMIID.Malformed", "Invalid id: \"%s\" (expecting \"ami-...\")", id)
	}
	im := s.byID(id)
	if im == nil {
		return nil, awserr.New("InvalidAMIID.NotFound", "The image id '[%s]' does not exist", id)
	}
	return im, nil
}
