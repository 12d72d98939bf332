package main

import "encoding/json"

// instance is the part of a source record that the catalogue uses.
//
// Size: the fields of the source that are read.
type instance struct {
	Name     string   `json:"instance_type"`
	Arch     []string `json:"arch"`
	VCPU     int      `json:"vCPU"`
	Memory   float64  `json:"memory"` // GiB
	CPU      string   `json:"physical_processor"`
	Clock    string   `json:"clock_speed_ghz"`
	Network  string   `json:"network_performance"`
	EBSMax   float64  `json:"ebs_max_bandwidth"` // Mbit/s
	GPU      int      `json:"GPU"`
	GPUModel string   `json:"GPU_model"`
	GPUMem   float64  `json:"GPU_memory"` // GiB, all devices
	Virt     []string `json:"linux_virtualization_types"`
	VPC      *struct {
		ENIs int `json:"max_enis"`
		IPs  int `json:"ips_per_eni"`
	} `json:"vpc"`
	Storage *struct {
		Devices int     `json:"devices"`
		Size    float64 `json:"size"` // GB per device
		NVMe    bool    `json:"nvme_ssd"`
	} `json:"storage"`
	Zones   map[string][]string                   `json:"availability_zones"`
	Pricing map[string]map[string]json.RawMessage `json:"pricing"`
}

// price is a region's Linux price; figures are decimal strings in USD/hour.
type price struct {
	OnDemand  string   `json:"ondemand"`
	Spot      []string `json:"spot"`
	Interrupt string   `json:"pct_interrupt"`
}

// typeRecord is one element of types.json: ../decode.go reads it.
//
// Size: one field for each fact about an instance type.
type typeRecord struct {
	Name    string   `json:"n"`
	Arch    string   `json:"a"`
	VCPU    int      `json:"c"`
	Memory  int64    `json:"m"` // MiB
	Metal   bool     `json:"b,omitempty"`
	Hyper   string   `json:"h,omitempty"`
	ENIs    int      `json:"e"`
	IPs     int      `json:"i"`
	Network int      `json:"w,omitempty"` // Mbit/s
	EBS     int      `json:"s,omitempty"` // Mbit/s
	Maker   string   `json:"p,omitempty"`
	Clock   int      `json:"z,omitempty"` // MHz
	NVMe    int      `json:"l,omitempty"` // GB
	Encrypt bool     `json:"t,omitempty"`
	EFAs    int      `json:"f,omitempty"`
	GPUs    []device `json:"g,omitempty"`
	Accels  []device `json:"x,omitempty"`
}

type device struct {
	Name   string `json:"n"`
	Maker  string `json:"p"`
	Count  int    `json:"c"`
	Memory int64  `json:"m,omitempty"` // MiB per device
}

// regionRecord is a whole region file.
type regionRecord struct {
	Region string       `json:"region"`
	Zones  []string     `json:"zones"` // zone IDs, sorted
	Sales  []saleRecord `json:"sales"`
}

type saleRecord struct {
	Type     string  `json:"n"`
	OnDemand int64   `json:"d"`           // millionths of the region's currency per hour
	Zones    []int   `json:"z,omitempty"` // indices of Zones
	Spot     []int64 `json:"s,omitempty"` // by zone, 0 is not sold
	// Interrupt is 1 (<5 %) to 5 (>20 %), 0 unknown.
	Interrupt int `json:"i,omitempty"`
}
