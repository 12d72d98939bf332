package attack

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/sdk/abi"
	"spokeshave.dev/test/kit/harness"
)

// moduleAttacks are WebAssembly modules that are small, and heavy for a compiler.
func moduleAttacks() map[string]attack {
	const keeps = "the controller's memory and its decisions meanwhile"
	return map[string]attack{
		"author/heavy-module": {
			story: "the functions of a WebAssembly module are as heavy as a function may be, while pods wait", want: "it is compiled, and the pods get nodes meanwhile",
			keeps: keeps, memory: true, launches: true, run: heavyModule,
		},
		"author/module-of-types": {
			story: "a WebAssembly module has a megabyte of function types, which a compiler makes 100 MB of", want: "it is rejected and says so",
			keeps: keeps, memory: true, run: moduleOfTypes,
		},
	}
}

// heavyModule has the controller compile four functions that are each as heavy as a function
// may be, for some seconds and with 60 MB.
func heavyModule(t *testing.T) {
	serve(t) // what the controller takes for its work, it takes once
	before := settledMemory(t)
	fill := []byte("\x41\x00\x41\x00\x41\x00\xfc\x0b\x00")
	installModule(t, "heavy", module(nil, slices.Repeat([][]byte{bytes.Repeat(fill, 900)}, 4)))
	begun := time.Now()
	serve(t)
	t.Logf("pods had a node after %v", time.Since(begun))
	status(t, "heavy", "Active")
	if grew(t, before) > grown {
		t.Error("the controller grew by more than a module may cost")
	}
}

func moduleOfTypes(t *testing.T) {
	values := strings.Repeat("\x7f", 64)
	installModule(t, "types", module(bytes.Repeat([]byte("\x60\x40"+values+"\x40"+values), 9000), nil))
	status(t, "types", "Rejected")
	status(t, "types", "parameters and results")
}

// module returns a rank policy that has no opinion, with more types of 130 bytes each and more
// functions.
func module(types []byte, functions [][]byte) []byte {
	sized := func(b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(len(b))), b...) }
	vector := func(n int, b []byte) []byte { return append(binary.AppendUvarint(nil, uint64(n)), b...) }
	export := func(name, kindAndIndex string) []byte { return append(sized([]byte(name)), kindAndIndex...) }
	own := []string{"\x00\x41\x01\x0b", "\x00\x41\x80\x80\x04\x0b", "\x00\x41\x00\x0b"} // no opinion; 65536; version 0
	var code []byte
	for _, body := range own {
		code = append(code, sized([]byte(body))...)
	}
	for _, body := range functions {
		code = append(code, sized(slices.Concat([]byte{0}, body, []byte{0x0b}))...)
	}
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, section := range []struct {
		id   byte
		body []byte
	}{
		{1, vector(4+len(types)/130, append([]byte("\x60\x02\x7f\x7f\x01\x7f\x60\x01\x7f\x01\x7f\x60\x00\x01\x7f\x60\x00\x00"), types...))},
		{3, vector(len(own)+len(functions), append([]byte{0, 1, 2}, bytes.Repeat([]byte{3}, len(functions))...))},
		{5, []byte("\x01\x01\x10\x80\x02")},
		{7, vector(4, slices.Concat(export(abi.ExportMemory, "\x02\x00"), export(abi.ExportRank, "\x00\x00"), export(abi.ExportAlloc, "\x00\x01"), export(abi.ExportVersion, "\x00\x02")))},
		{10, vector(len(own)+len(functions), code)},
	} {
		out = append(append(out, section.id), sized(section.body)...)
	}
	return out
}

// installModule applies a WebAssembly policy, and removes it when the test ends.
func installModule(t *testing.T, name string, module []byte) {
	t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(module); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cm := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: metav1.ObjectMeta{Namespace: harness.Namespace, Name: name, Labels: map[string]string{karpv1.LabelPolicy: "true"}},
		Data:       map[string]string{"policy.yaml": "apiVersion: policy.spokeshave.dev/v1alpha1\nhooks: [rank]\nengine: wasm\n"},
		BinaryData: map[string][]byte{"module.wasm.gz": zipped.Bytes()},
	}
	if err := stack.ApplyPolicy(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stack.Client.Delete(context.WithoutCancel(t.Context()), cm); err != nil {
			t.Error(err)
		}
	})
}
