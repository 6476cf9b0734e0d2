package sweep

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/cmd/argosy/internal/exit"
	"github.com/argosy-ml/argosy/compiler"
	"github.com/argosy-ml/argosy/sdk/client"
	"github.com/argosy-ml/argosy/server/pipeline/pkgfile"
)

// target is the version of a pipeline that is measured.
type target struct {
	pipeline  *client.Pipeline
	version   string // id
	defaults  map[string]string
	arguments []string // names of its parameters
}

// find gives what to measure: a package or a folder with a pipeline in Go, which is uploaded unless the server has it, or the name of a
// pipeline.
func find(ctx context.Context, cl *client.Client, what string) (*target, error) {
	info, err := os.Stat(what)
	switch {
	case errors.Is(err, os.ErrNotExist):
		p, err := cl.Pipelines.ByName(ctx, what)
		if client.IsNotFound(err) {
			return nil, exit.With(exit.Refused, fmt.Errorf("there is no file, folder or pipeline named %s", what))
		}
		if err != nil {
			return nil, err
		}
		return targetOf(p, p.Default), nil
	case err != nil:
		return nil, exit.With(exit.Usage, err)
	}
	name, data := what, []byte(nil)
	if info.IsDir() {
		name, data, err = compiled(ctx, what)
	} else {
		data, err = os.ReadFile(what)
		err = exit.With(exit.Usage, err)
	}
	if err != nil {
		return nil, err
	}
	return upload(ctx, cl, filepath.Base(name), data)
}

// compiled makes the package of a folder.
func compiled(ctx context.Context, dir string) (name string, data []byte, err error) {
	tmp, err := os.MkdirTemp("", "argosy-sweep-*")
	if err != nil {
		return "", nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	whole, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	name = filepath.Join(tmp, filepath.Base(whole)+".tar.gz")
	err = compiler.RunDir(ctx, dir, []string{"-o", name}, io.Discard)
	if refused := (*compiler.ProgramError)(nil); errors.As(err, &refused) {
		err = exit.With(refused.Code, err)
	}
	if err != nil {
		return "", nil, err
	}
	data, err = os.ReadFile(name)
	return name, data, err
}

// upload gives the pipeline named after the file. Where there is one with other contents, the package becomes a version of it.
func upload(ctx context.Context, cl *client.Client, file string, data []byte) (*target, error) {
	text, err := pkgfile.Read(file, data)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	name := file
	for _, ending := range []string{".tar.gz", ".tgz", ".zip", ".yaml", ".yml", ".json"} {
		name = strings.TrimSuffix(name, ending)
	}
	p, err := cl.Pipelines.ByName(ctx, name)
	if client.IsNotFound(err) {
		if p, err = cl.Pipelines.Upload(ctx, name, bytes.NewReader(data), client.FileName(file)); err != nil {
			return nil, err
		}
		return targetOf(p, p.Default), nil
	}
	if err != nil {
		return nil, err
	}
	have, err := cl.Pipelines.Template(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(have) == strings.TrimSpace(string(text)) {
		return targetOf(p, p.Default), nil
	}
	version := fmt.Sprintf("sweep-%x", sha256.Sum256(text))[:14]
	v, err := cl.Versions.Upload(ctx, p.ID, version, bytes.NewReader(data), client.FileName(file))
	if client.IsConflict(err) {
		v, err = cl.Versions.ByName(ctx, p.ID, version)
	}
	if err != nil {
		return nil, err
	}
	return targetOf(p, v), nil
}

func targetOf(p *client.Pipeline, v *client.PipelineVersion) *target {
	t := &target{pipeline: p, defaults: map[string]string{}}
	parameters := p.Parameters
	if v != nil {
		t.version, parameters = v.ID, v.Parameters
	}
	for _, q := range parameters {
		t.defaults[q.Name] = q.Value
	}
	t.arguments = slices.Sorted(maps.Keys(t.defaults))
	return t
}

// takes refuses parameters that the pipeline does not have.
func (t *target) takes(names ...string) error {
	for _, name := range names {
		if !slices.Contains(t.arguments, name) {
			return exit.Usagef("pipeline %s has no parameter %s; it has: %s", t.pipeline.Name, name, strings.Join(t.arguments, ", "))
		}
	}
	return nil
}
