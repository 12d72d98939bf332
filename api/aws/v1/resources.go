package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Extended resources that EC2 instance types have.
const (
	ResourceNVIDIAGPU          corev1.ResourceName = "nvidia.com/gpu"
	ResourceAMDGPU             corev1.ResourceName = "amd.com/gpu"
	ResourceNeuron             corev1.ResourceName = "aws.amazon.com/neuron"
	ResourceNeuronCore         corev1.ResourceName = "aws.amazon.com/neuroncore"
	ResourceHabanaGaudi        corev1.ResourceName = "habana.ai/gaudi"
	ResourcePodENI             corev1.ResourceName = "vpc.amazonaws.com/pod-eni"
	ResourceEFA                corev1.ResourceName = "vpc.amazonaws.com/efa"
	ResourcePrivateIPv4Address corev1.ResourceName = "vpc.amazonaws.com/PrivateIPv4Address"
	ResourceNIPSlots           corev1.ResourceName = "eks.amazonaws.com/nip-slots"
	ResourceNitroSandbox       corev1.ResourceName = "eks.amazonaws.com/nitro-sandbox"
)
