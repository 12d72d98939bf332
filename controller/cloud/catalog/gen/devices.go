package main

import "strings"

// accelerators are devices that the source lacks or lists under other names. EC2 counts
// those of AWS as accelerators and those of Habana as GPUs.
// https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
var accelerators = map[string]device{
	"inf1.xlarge":    {"Inferentia", "AWS", 1, 8192},
	"inf1.2xlarge":   {"Inferentia", "AWS", 1, 8192},
	"inf1.6xlarge":   {"Inferentia", "AWS", 4, 8192},
	"inf1.24xlarge":  {"Inferentia", "AWS", 16, 8192},
	"inf2.xlarge":    {"Inferentia2", "AWS", 1, 32768},
	"inf2.8xlarge":   {"Inferentia2", "AWS", 1, 32768},
	"inf2.24xlarge":  {"Inferentia2", "AWS", 6, 32768},
	"inf2.48xlarge":  {"Inferentia2", "AWS", 12, 32768},
	"trn1.2xlarge":   {"Trainium", "AWS", 1, 32768},
	"trn1.32xlarge":  {"Trainium", "AWS", 16, 32768},
	"trn1n.32xlarge": {"Trainium", "AWS", 16, 32768},
	"trn2.48xlarge":  {"Trainium2", "AWS", 16, 98304},
	"dl1.24xlarge":   {"Gaudi HL-205", "Habana", 8, 32768},
}

// gpuCounts replaces the counts of the source, which counts K80 boards instead of GPUs.
var gpuCounts = map[string]int{"p2.xlarge": 1, "p2.8xlarge": 8, "p2.16xlarge": 16}

// usableMemory is the memory that EC2 reports, in MiB, where it differs from the
// nominal one.
var usableMemory = map[string]int64{"L4": 22888, "L40S": 45776}

func devices(in *instance) (gpus, accels []device) {
	if d, ok := accelerators[in.Name]; ok {
		if d.Maker == "Habana" {
			return []device{d}, nil
		}
		return nil, []device{d}
	}
	maker, model, found := strings.Cut(in.GPUModel, " ")
	if !found || in.GPU == 0 {
		return nil, nil
	}
	model = strings.TrimSuffix(model, " Tensor Core")
	model = strings.TrimPrefix(model, "Tesla ")
	if model == "T4G" {
		model = "T4g"
	}
	count := in.GPU
	if n, ok := gpuCounts[in.Name]; ok {
		count = n
	}
	memory := int64(in.GPUMem*1024) / int64(count)
	if m, ok := usableMemory[model]; ok {
		memory = m
	}
	return []device{{Name: model, Maker: maker, Count: count, Memory: memory}}, nil
}
