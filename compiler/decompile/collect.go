package decompile

import (
	"slices"
	"strings"

	"github.com/argosy-ml/argosy/sdk/dsl/graph"
)

// Files that are collected from loops lie at keys of the artifact repository that the compiler chooses:
// artifacts/RUN/collected/UID/[CALL/]STEP-OUTPUT/INDEX/INDEX. These expressions are the parts that differ from pass to pass
// and from call to call.
const (
	indexOfItem = `sprig.trunc(-5, "0000" + split(split(tasks.name, "(")[1], ":")[0])`
	wordOfCall  = `sprig.trunc(16, sprig.sha256sum(node.name))`
)

// place is a file, and the loops around the step that leaves it.
type place struct {
	ref   graph.Ref
	loops int
}

// mayBeCollected notes a file by the name that it has in keys.
func (r *raiser) mayBeCollected(ref graph.Ref) {
	if r.kept[r.sub] == nil {
		r.kept[r.sub] = map[string]place{}
	}
	r.kept[r.sub][ref.Step+"-"+ref.Output] = place{ref, len(r.around)}
}

// folder is the file that is collected at a key.
func (r *raiser) folder(key graph.Text) (graph.Ref, bool) {
	name, indices, ok := collectedKey(key)
	at, known := r.kept[r.sub][name]
	if !ok || !known || indices >= at.loops {
		return graph.Ref{}, false
	}
	ref := at.ref
	ref.Collected = at.loops - indices
	return ref, true
}

// collectedKey reads a key of collected files: what they are called there, and how many places of items it ends with.
func collectedKey(key graph.Text) (name string, indices int, ok bool) {
	if len(key) < 5 || key[0].Text != "artifacts/" || key[1].Ref == nil || key[1].Ref.Variable != "workflow.name" ||
		key[2].Text != "/collected/" || key[3].Ref == nil || key[3].Ref.Variable != "workflow.uid" {
		return "", 0, false
	}
	rest := key[4:]
	if len(rest) >= 3 && rest[0].Text == "/" && rest[1].Ref != nil && rest[1].Ref.Call {
		rest = rest[2:]
	}
	name = strings.Trim(rest[0].Text, "/")
	for _, p := range rest[1:] {
		switch {
		case p.Ref != nil && p.Ref.Index:
			indices++
		case p.Ref != nil || p.Text != "/":
			return "", 0, false
		}
	}
	return name, indices, name != "" && !strings.Contains(name, "/")
}

// uncached says whether a template takes nothing from a cache.
func uncached(t *object) bool {
	has := func(list, name, value string) bool {
		return slices.Contains(t.object("metadata").pairs(list), [2]string{name, value})
	}
	return has("annotations", staleness, "P0D") && has("labels", caching, "false")
}

// store reads where a step keeps an artifact, which is for the DSL to choose: where files are collected, in the place for
// that, which may have it keep the file twice. The store that Kubeflow Pipelines' first SDKs name in full is passed over.
func (r *raiser) store(t, a *object, s *scope, before []graph.Artifact, own graph.Artifact) (again bool) {
	s3 := a.object("s3")
	if s3 == nil {
		if unpackedNever(a) {
			a.fault("archive: none cannot be expressed in the DSL for what a step leaves")
		}
		return false
	}
	if s3.text("bucket") == "mlpipeline" && strings.HasPrefix(s3.text("endpoint"), "minio-service.") {
		return false
	}
	if !s3.has("bucket") && !s3.has("endpoint") {
		if _, indices, ok := collectedKey(r.text(s, s3.text("key"))); ok && indices > 0 && unpackedNever(a) {
			s3.finish()
			if !uncached(t) {
				a.fault("files that are collected from a loop cannot be taken from a cache in the DSL: the step must say so by %s and %s", staleness, caching)
			}
			return slices.ContainsFunc(before, func(b graph.Artifact) bool { return b.Path == own.Path })
		}
	}
	s3.fault("a place of its own for an artifact cannot be expressed in the DSL: artifacts are kept where the cluster keeps them")
	return false
}
