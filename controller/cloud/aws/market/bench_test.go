package market

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/core/model"
)

// withoutAWS returns catalogues of a market that was never read, so that the embedded one
// serves, and a class with images and subnets.
func withoutAWS() (*Catalogue, *awsv1.EC2NodeClass) {
	clock := func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }
	m := &Market{Region: "us-west-2", Clock: clock, Log: logr.Discard()}
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	for zone, id := range map[string]string{"a": "usw2-az1", "b": "usw2-az2", "c": "usw2-az3"} {
		class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{ID: "subnet-" + zone, Zone: "us-west-2" + zone, ZoneID: id})
	}
	for _, arch := range []string{"amd64", "arm64"} {
		class.Status.AMIs = append(class.Status.AMIs, awsv1.AMI{ID: "ami-" + arch, Requirements: []corev1.NodeSelectorRequirement{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{arch}}}})
	}
	return &Catalogue{Market: m, Memories: &Memories{Market: m}}, class
}

// BenchmarkCatalog is what a decision pays for a class's catalogue: unchanged,
// with some offerings sold out, and after prices changed.
func BenchmarkCatalog(b *testing.B) {
	c, class := withoutAWS()
	m, clock := c.Market, c.Market.Clock
	short := &availability.Shortage{}
	run := func(b *testing.B, before func()) {
		b.ReportAllocs()
		for range b.N {
			before()
			got, err := c.Of(class)
			got = short.Apply(clock(), got, "")
			if err != nil || len(got.Types) < 700 {
				b.Fatalf("%d types, %v", len(got.Types), err)
			}
		}
	}
	b.Run("unchanged", func(b *testing.B) { run(b, func() {}) })
	b.Run("sold out", func(b *testing.B) {
		base, err := c.Of(class)
		if err != nil {
			b.Fatal(err)
		}
		for i := range 20 {
			o := model.Option{InstanceType: base.Types[i*30].Name, Zone: "us-west-2a", CapacityType: model.OnDemand}
			short.Mark(clock(), []model.Option{o}, "")
		}
		run(b, func() {})
	})
	b.Run("new prices", func(b *testing.B) { run(b, func() { m.current.Version++ }) })
}
