// Command image builds the controller's container image without a container
// engine: static binaries for amd64 and arm64, root certificates and nothing
// else, written as an OCI image layout in one tar file.
//
//	image -version v1.2.3 -out dist/spokeshave.tar
//
// Tools that read the layout can push or run it: "skopeo copy oci-archive:FILE
// docker://REGISTRY/NAME:TAG", "crane push" after unpacking, "podman load".
// The same sources, Go version and version string give the same bytes.
//
// Not here: what a release has besides (tools/release: signatures, notices of what is
// linked, pushing), and the Dockerfile, which is for people who prefer an engine and
// describes the same file system.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/program"
)

// request says what to build.
type request struct {
	// source is the root of the product's module.
	source string
	// pkg is the command to build, such as ./cmd/spokeshave-controller.
	pkg       string
	version   string
	out       string
	platforms []v1.Platform
	progress  io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	r := request{
		pkg:       "./cmd/spokeshave-controller",
		platforms: []v1.Platform{{OS: "linux", Architecture: "amd64"}, {OS: "linux", Architecture: "arm64"}},
		progress:  os.Stderr,
	}
	flag.StringVar(&r.source, "source", "..", "root of the product's module")
	flag.StringVar(&r.version, "version", "", "version to stamp and tag with")
	flag.StringVar(&r.out, "out", "", "file to write, relative to -source")
	flag.Parse()
	if err := build(ctx, r); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// build compiles, assembles and writes the image.
func build(ctx context.Context, r request) error {
	if r.version == "" || r.out == "" {
		return errors.New("say -version and -out")
	}
	out := r.out
	if !filepath.IsAbs(out) {
		out = filepath.Join(r.source, out)
	}
	base, err := oci.BaseFiles(r.source)
	if err != nil {
		return err
	}
	shared, err := oci.NewLayer(base)
	if err != nil {
		return err
	}
	image := oci.Image{Version: r.version, Created: oci.Epoch()}
	images := make([]oci.PlatformImage, 0, len(r.platforms))
	for _, p := range r.platforms {
		fmt.Fprintf(r.progress, "building %s for %s\n", r.pkg, p)
		compiled, err := program.Compile(ctx, r.source, r.pkg, r.version, p)
		if err != nil {
			return err
		}
		layer, err := oci.NewLayer([]oci.File{oci.Program(compiled.Binary)})
		if err != nil {
			return err
		}
		img, err := image.Platform(p, shared, layer)
		if err != nil {
			return err
		}
		images = append(images, oci.PlatformImage{Platform: p, Image: img})
	}
	if err := oci.WriteLayout(out, oci.NewLayout(oci.Entry{Name: r.version, Content: image.Index(images)})); err != nil {
		return err
	}
	fmt.Fprintf(r.progress, "wrote %s\n", out)
	return nil
}
