package ec2

import (
	"encoding/base64"

	"spokeshave.dev/simulator/awserr"
	"spokeshave.dev/simulator/operation"
)

type instanceAttribute struct {
	ID        string `query:"InstanceId"`
	Attribute string
}

type attributeValue struct {
	Value string `xml:"value,omitempty"`
}

// describeAttribute tells an instance's type or user data.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceAttribute.html
func (s *reader) describeAttribute(c *operation.Call, in *instanceAttribute) (any, error) {
	i, err := s.instances.find(c, in.ID)
	if err != nil {
		return nil, err
	}
	out := struct {
		ID       string          `xml:"instanceId"`
		UserData *attributeValue `xml:"userData"`
		Type     *attributeValue `xml:"instanceType"`
	}{ID: i.id}
	switch in.Attribute {
	case "userData":
		out.UserData = &attributeValue{i.spec.data.UserData}
	case "instanceType":
		out.Type = &attributeValue{i.spec.kind.Name}
	default:
		return nil, awserr.New(awserr.InvalidValue, "Value (%s) for parameter attribute is invalid, or ec2sim does not know it", in.Attribute)
	}
	return out, nil
}

// userData is the instance's user data, decoded.
func (i *instance) userData() string {
	raw, err := base64.StdEncoding.DecodeString(i.spec.data.UserData)
	if err != nil {
		return ""
	}
	return string(raw)
}
