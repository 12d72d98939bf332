package source

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// maxSize is the largest size in bytes of data and decoded binaryData together that the
// API server accepts.
const maxSize = 1 << 20

// Size is the size of a ConfigMap as the API server counts it, in bytes.
func Size(cm *corev1.ConfigMap) int {
	n := 0
	for _, text := range cm.Data {
		n += len(text)
	}
	for _, b := range cm.BinaryData {
		n += len(b)
	}
	return n
}

// CheckSize returns an error if the API server would refuse the ConfigMap for its size.
func CheckSize(cm *corev1.ConfigMap) error {
	size := Size(cm)
	if size <= maxSize {
		return nil
	}
	largest, most := "", 0
	for name, text := range cm.Data {
		if len(text) > most {
			largest, most = name, len(text)
		}
	}
	for name, b := range cm.BinaryData {
		if len(b) > most {
			largest, most = name, len(b)
		}
	}
	return fmt.Errorf("policy %s has %d bytes, and a ConfigMap holds %d; the largest part is %s with %d: "+
		"strip the module, leave out encoding/json and fmt, or write it in Rust, C, AssemblyScript or Rego", cm.Name, size, maxSize, largest, most)
}
