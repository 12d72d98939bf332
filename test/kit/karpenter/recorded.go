package karpenter

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ClusterName is the name of the recorded cluster in AWS. Hashes contain it.
const ClusterName = "mig"

//go:embed recorded
var recorded embed.FS

// Machine is a recorded instance. Name is its private DNS name.
type Machine struct {
	ID, Type, Subnet, Image, Group, Name string
	Spot                                 bool
	Tags                                 map[string]string
}

// Machines are the recorded instances.
func Machines() ([]Machine, error) {
	text, err := recorded.ReadFile("recorded/instances.json")
	if err != nil {
		return nil, err
	}
	var out []Machine
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read recorded instances: %w", err)
	}
	return out, nil
}

// Objects are the recorded objects, with their status. Callers may change them.
func Objects() ([]*unstructured.Unstructured, error) {
	text, err := recorded.ReadFile("recorded/objects.yaml")
	if err != nil {
		return nil, err
	}
	var out []*unstructured.Unstructured
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := dec.Decode(&o.Object); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("read recorded objects: %w", err)
		}
		out = append(out, o)
	}
}

// UserData is what Karpenter gave an instance of NodePool labels to boot with.
func UserData() (string, error) {
	text, err := recorded.ReadFile("recorded/userdata.txt")
	return string(text), err
}
