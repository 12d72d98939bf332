package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"spokeshave.dev/tools/release/changelog"
	"spokeshave.dev/tools/release/manual"
	"spokeshave.dev/tools/release/notices"
	"spokeshave.dev/tools/release/oci"
	"spokeshave.dev/tools/release/program"
	"spokeshave.dev/tools/release/provenance"
	"spokeshave.dev/tools/release/registry"
	"spokeshave.dev/tools/release/sbom"
	"spokeshave.dev/tools/release/sign"
)

// options are what a release is built with.
type options struct {
	source, out, version, registry, downloads string
	// key is a file, password what it may be encrypted with.
	key, password       string
	repository, builder string
	images, archives    []v1.Platform
	progress            io.Writer
}

// release is a release while it is built.
type release struct {
	options

	commit  commit
	key     *sign.Key // nil: nothing is signed
	modules []notices.Module
	notices []byte
	// files are those of the folder, in the order in which they were made.
	files []oci.File
	// archived are the archives of the command line.
	archived []archived
}

// build makes the release in a folder beside out, and puts it there when it is whole.
func build(ctx context.Context, o options) error {
	r, err := begin(ctx, o)
	if err != nil {
		return err
	}
	for _, s := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"reading the licences of what is linked", r.readLicences},
		{"", r.makeArchives},
		{"", r.makeImages},
		{"writing the changelog", r.writeChangelog},
		{"writing krew's manifest", r.writeKrew},
		{"writing provenance and checksums", r.writeSums},
	} {
		start := time.Now()
		if s.what != "" {
			fmt.Fprintf(r.progress, "%s … ", s.what)
		}
		if err := s.do(ctx); err != nil {
			return err
		}
		if s.what != "" {
			fmt.Fprintln(r.progress, time.Since(start).Round(100*time.Millisecond))
		}
	}
	if err := r.write(); err != nil {
		return err
	}
	fmt.Fprintf(r.progress, "%s is in %s: %d files\n", r.version, r.out, len(r.files))
	if r.key == nil {
		fmt.Fprintln(r.progress, "nothing is signed: no key was given")
	}
	return nil
}

// begin checks what was asked for, before minutes are spent on it.
func begin(ctx context.Context, o options) (*release, error) {
	if err := checkVersion(o.version); err != nil {
		return nil, err
	}
	if o.registry != "" {
		if err := registry.CheckName(o.registry); err != nil {
			return nil, err
		}
	}
	here := v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	if !slices.ContainsFunc(o.archives, func(p v1.Platform) bool { return p.String() == here.String() }) {
		return nil, fmt.Errorf("a release cannot be made on %s: the command line has to run here to tell its manual; use one of %v", here, o.archives)
	}
	r := &release{options: o}
	if o.key != "" {
		text, err := readKey(o.key)
		if err != nil {
			return nil, err
		}
		if r.key, err = sign.ParseKey(text, []byte(o.password)); err != nil {
			return nil, fmt.Errorf("%s: %w", o.key, err)
		}
	}
	if err := replaceable(o.out); err != nil {
		return nil, err
	}
	var err error
	r.commit, err = repository{o.source}.head(ctx, o.version)
	return r, err
}

// replaceable returns an error unless a folder is absent, empty, or a release.
func replaceable(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look into %s: %w", folder, err)
	}
	if _, err := os.Stat(filepath.Join(folder, sumsFile)); err != nil {
		return fmt.Errorf("%s has files and is no release: say another folder with --out (OUT= of make)", folder)
	}
	return nil
}

// add adds a file to the folder.
func (r *release) add(name string, body []byte) {
	r.files = append(r.files, oci.File{Name: name, Mode: 0o644, Body: body})
}

func (r *release) readLicences(ctx context.Context) error {
	var err error
	if r.modules, err = licences(ctx, r.source, r.archives); err != nil {
		return fmt.Errorf("licences: %w", err)
	}
	r.notices = noticesText(r.modules)
	r.add("THIRD_PARTY_NOTICES", r.notices)
	return nil
}

// compile builds a program, and adds its SBOM to the folder.
func (r *release) compile(ctx context.Context, pkg string, p v1.Platform) (*program.Program, []byte, error) {
	start := time.Now()
	name := filepath.Base(pkg)
	fmt.Fprintf(r.progress, "building %s for %s … ", name, p)
	compiled, err := program.Compile(ctx, r.source, pkg, r.version, p)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintln(r.progress, time.Since(start).Round(100*time.Millisecond))
	bom, err := sbom.Write(compiled, name, r.version, r.commit.time, r.modules)
	if err != nil {
		return nil, nil, err
	}
	r.add(r.named(name, p)+".cdx.json", bom)
	return compiled, bom, nil
}

// named is the name of what a program is for a platform, without an ending.
func (r *release) named(name string, p v1.Platform) string {
	return strings.Join([]string{name, r.version, p.OS, p.Architecture}, "-")
}

// archived is an archive of the command line.
type archived struct {
	platform v1.Platform
	name     string
	body     []byte
}

// makeArchives builds the command line for each platform. It is built first for this one,
// on which it tells its manual.
func (r *release) makeArchives(ctx context.Context) error {
	own, err := oci.OwnNotices(r.source)
	if err != nil {
		return err
	}
	common := append(own, oci.File{Name: "THIRD_PARTY_NOTICES", Mode: 0o644, Body: r.notices})
	platforms := slices.Clone(r.archives)
	here := func(p v1.Platform) bool { return p.OS == runtime.GOOS && p.Architecture == runtime.GOARCH }
	slices.SortStableFunc(platforms, func(a, b v1.Platform) int {
		return map[bool]int{true: 1}[here(b)] - map[bool]int{true: 1}[here(a)]
	})
	for i, p := range platforms {
		cli, _, err := r.compile(ctx, cliPackage, p)
		if err != nil {
			return err
		}
		if i == 0 {
			pages, err := manual.Write(ctx, cli.Binary, r.version, r.commit.time)
			if err != nil {
				return err
			}
			common = append(common, pages...)
		}
		files := append([]oci.File{{Name: "spokeshave", Mode: 0o755, Body: cli.Binary}}, common...)
		var archive bytes.Buffer
		if err := oci.WriteArchive(&archive, files, r.commit.time); err != nil {
			return err
		}
		a := archived{p, r.named("spokeshave", p) + ".tar.gz", archive.Bytes()}
		r.archived = append(r.archived, a)
		r.add(a.name, a.body)
	}
	return nil
}

func (r *release) writeChangelog(ctx context.Context) error {
	repo := repository{r.source}
	since, err := repo.before(ctx, r.version)
	if err != nil {
		return err
	}
	commits, err := repo.commits(ctx, since)
	if err != nil {
		return err
	}
	r.add("CHANGELOG.md", changelog.Write(r.version, since, commits))
	return nil
}

// made is how the release was made, for its provenance.
func (r *release) made() provenance.Build {
	std := r.modules[slices.IndexFunc(r.modules, func(m notices.Module) bool { return m.Path == "std" })]
	return provenance.Build{
		Source: "git+" + r.repository, Commit: r.commit.hash, Go: "go" + std.Version,
		Version: r.version, Registry: r.registry, Builder: r.builder,
	}
}

// write writes the folder beside where it will be, and moves it there.
func (r *release) write() error {
	part := filepath.Clean(r.out) + ".part"
	if err := os.RemoveAll(part); err != nil {
		return fmt.Errorf("clear %s: %w", part, err)
	}
	if err := os.MkdirAll(part, 0o755); err != nil {
		return fmt.Errorf("make %s: %w", part, err)
	}
	for _, f := range r.files {
		if err := os.WriteFile(filepath.Join(part, f.Name), f.Body, fs.FileMode(f.Mode)); err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	if err := os.RemoveAll(r.out); err != nil {
		return fmt.Errorf("remove the release before: %w", err)
	}
	if err := os.Rename(part, r.out); err != nil {
		return fmt.Errorf("finish %s: %w", r.out, err)
	}
	return nil
}
