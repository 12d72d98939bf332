package convert

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// templateRef names a version of a launch template.
type templateRef struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Version string `json:"version"`
}

// templates are the launch templates' versions that were read.
type templates []templateVersion

// templateVersion is one of what aws ec2 describe-launch-template-versions prints.
type templateVersion struct {
	ID      string       `json:"LaunchTemplateId"`
	Name    string       `json:"LaunchTemplateName"`
	Number  jsonNumber   `json:"VersionNumber"`
	Default bool         `json:"DefaultVersion"`
	Data    templateData `json:"LaunchTemplateData"`
	fields  []string     // of LaunchTemplateData
}

type templateData struct {
	ImageID        string           `json:"ImageId"`
	InstanceType   string           `json:"InstanceType"`
	KeyName        string           `json:"KeyName"`
	UserData       string           `json:"UserData"`
	SecurityGroups []string         `json:"SecurityGroupIds"`
	Disks          []templateDisk   `json:"BlockDeviceMappings"`
	Interfaces     []templateNIC    `json:"NetworkInterfaces"`
	Tags           []templateTags   `json:"TagSpecifications"`
	Monitoring     enabled          `json:"Monitoring"`
	Profile        templateProfile  `json:"IamInstanceProfile"`
	Metadata       templateMetadata `json:"MetadataOptions"`
	Placement      struct {
		Group string `json:"GroupName"`
	} `json:"Placement"`
}

// templateCarried returns the fields of a launch template's data that are read, or that the
// controller decides. EbsOptimized is always on where a type has it.
func templateCarried() map[string]bool {
	return set("ImageId", "InstanceType", "UserData", "SecurityGroupIds", "BlockDeviceMappings", "NetworkInterfaces", "TagSpecifications",
		"Monitoring", "IamInstanceProfile", "MetadataOptions", "Placement", "EbsOptimized")
}

type templateDisk struct {
	Device string `json:"DeviceName"`
	EBS    *struct {
		Size       int     `json:"VolumeSize"`
		Type       string  `json:"VolumeType"`
		IOPS       *int64  `json:"Iops"`
		Throughput *int64  `json:"Throughput"`
		Encrypted  *bool   `json:"Encrypted"`
		Key        *string `json:"KmsKeyId"`
		Snapshot   *string `json:"SnapshotId"`
		Delete     *bool   `json:"DeleteOnTermination"`
	} `json:"Ebs"`
}

type templateNIC struct {
	Groups   []string `json:"Groups"`
	PublicIP *bool    `json:"AssociatePublicIpAddress"`
}

type templateTags struct {
	ResourceType string `json:"ResourceType"`
	Tags         []tag  `json:"Tags"`
}

type enabled struct {
	Enabled bool `json:"Enabled"`
}

type templateProfile struct {
	ARN  string `json:"Arn"`
	Name string `json:"Name"`
}

type templateMetadata struct {
	Tokens   *string `json:"HttpTokens"`
	Endpoint *string `json:"HttpEndpoint"`
	Hops     *int64  `json:"HttpPutResponseHopLimit"`
	IPv6     *string `json:"HttpProtocolIpv6"`
}

// find returns the version that a reference means: by number, $Default or $Latest.
func (all templates) find(ref templateRef) *templateVersion {
	var found *templateVersion
	for i := range all {
		t := &all[i]
		if ref.ID != "" && t.ID != ref.ID || ref.ID == "" && t.Name != ref.Name {
			continue
		}
		switch ref.Version {
		case "$Latest":
			if found == nil || t.Number.int() > found.Number.int() {
				found = t
			}
		case "", "$Default":
			if t.Default {
				found = t
			}
		case string(t.Number):
			found = t
		}
	}
	return found
}

// template carries a launch template over.
func (d *draft) template(all templates, ref templateRef, field string) {
	version := all.find(ref)
	if version == nil {
		name := cmp.Or(ref.ID, ref.Name)
		d.need(field, "launch template %s, version %s, is not among the documents: add what aws ec2 describe-launch-template-versions --launch-template-id %s prints", name, ref.Version, name)
		return
	}
	t := &version.Data
	named := func(r karpv1.Requirement) bool { return r.Key == corev1.LabelInstanceTypeStable }
	if t.InstanceType != "" && !slices.ContainsFunc(d.pool.Template.Spec.Requirements, named) {
		d.types([]string{t.InstanceType})
	}
	if t.ImageID != "" {
		d.imageID(t.ImageID, field+" ImageId")
	}
	t.carryUserData(d, field+" UserData")
	d.securityGroups(t.SecurityGroups)
	for _, nic := range t.Interfaces {
		d.securityGroups(nic.Groups)
		if nic.PublicIP != nil {
			d.class.AssociatePublicIPAddress = nic.PublicIP
		}
	}
	d.profile(t.Profile.ARN)
	d.profile(t.Profile.Name)
	for i := range t.Disks {
		t.Disks[i].carry(d)
	}
	for _, of := range t.Tags {
		if of.ResourceType == "instance" {
			d.tags(tagMap(of.Tags), field+" TagSpecifications")
		}
	}
	if t.Monitoring.Enabled {
		d.class.DetailedMonitoring = &t.Monitoring.Enabled
	}
	if m := t.Metadata; m != (templateMetadata{}) {
		d.class.MetadataOptions = &awsv1.MetadataOptions{HTTPTokens: m.Tokens, HTTPEndpoint: m.Endpoint, HTTPPutResponseHopLimit: m.Hops, HTTPProtocolIPv6: m.IPv6}
	}
	if t.Placement.Group != "" {
		d.class.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: &t.Placement.Group}
	}
	d.leftOut(version.fields, templateCarried(), field+" ")
}

func (disk *templateDisk) carry(d *draft) {
	if disk.EBS == nil {
		return
	}
	e := disk.EBS
	out := &awsv1.BlockDevice{IOPS: e.IOPS, Throughput: e.Throughput, Encrypted: e.Encrypted, KMSKeyID: e.Key, SnapshotID: e.Snapshot, DeleteOnTermination: e.Delete}
	if e.Size > 0 {
		out.VolumeSize = gibibytes(e.Size)
	}
	if e.Type != "" {
		out.VolumeType = &e.Type
	}
	d.disk(disk.Device, out)
}

// carryUserData carries user data over, which is in base64.
func (t *templateData) carryUserData(d *draft, field string) {
	if t.UserData == "" {
		return
	}
	text, err := base64.StdEncoding.DecodeString(t.UserData)
	if err != nil {
		d.need(field, "is not base64: %v", err)
		return
	}
	data := string(text)
	d.class.UserData = &data
	if strings.Contains(data, "bootstrap.sh") || strings.Contains(data, "kind: NodeConfig") || strings.Contains(data, "[settings.kubernetes") {
		d.need(field, "it joins the cluster by itself, with the group's labels and taints in it: leave out of userData what the image family adds (cluster, endpoint, certificate, labels, taints), and choose the family by an alias")
	}
}
