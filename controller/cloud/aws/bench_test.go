package aws

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// BenchmarkCatalog is what a decision pays for a class's catalogue: unchanged,
// with some offerings sold out, and after prices changed.
func BenchmarkCatalog(b *testing.B) {
	p := offlineProvider()
	p.lowered = map[string]lowered{}
	// Nothing is asked of AWS: the embedded catalogue serves.
	never := time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
	p.market.typesDue, p.market.onDemandDue, p.market.spotDue, p.market.volumesDue = never, never, never, never
	class := testClass(awsv1.AMIFamilyAL2023, "")
	for _, zone := range []string{"a", "b", "c"} {
		class.Status.Subnets = append(class.Status.Subnets, awsv1.Subnet{ID: "subnet-" + zone, Zone: "us-west-2" + zone, ZoneID: "usw2-az-" + zone})
	}
	for _, arch := range []string{"amd64", "arm64"} {
		class.Status.AMIs = append(class.Status.AMIs, awsv1.AMI{ID: "ami-" + arch, Requirements: []corev1.NodeSelectorRequirement{archRequirement(arch)}})
	}
	run := func(b *testing.B, before func()) {
		b.ReportAllocs()
		for range b.N {
			before()
			got, err := p.catalogOf(b.Context(), class)
			got = p.shortage.over(p.cfg.Clock(), got)
			if err != nil || len(got.Types) < 700 {
				b.Fatalf("%d types, %v", len(got.Types), err)
			}
		}
	}
	b.Run("unchanged", func(b *testing.B) { run(b, func() {}) })
	b.Run("sold out", func(b *testing.B) {
		base, err := p.catalogOf(b.Context(), class)
		if err != nil {
			b.Fatal(err)
		}
		for i := range 20 {
			o := model.Option{InstanceType: base.Types[i*30].Name, Zone: "us-west-2a", CapacityType: model.OnDemand}
			p.shortage.mark(p.cfg.Clock(), []model.Option{o})
		}
		run(b, func() {})
	})
	b.Run("new prices", func(b *testing.B) { run(b, func() { p.market.current.version++ }) })
}
