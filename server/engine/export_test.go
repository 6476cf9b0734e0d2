package engine

import (
	"time"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"

	"github.com/argosy-ml/argosy/server/run"
)

// Expand expands the macros of one value, for tests.
func Expand(text string, o run.Options, now time.Time) string {
	wf := &wfv1.Workflow{}
	wf.Spec.Arguments.Parameters = []wfv1.Parameter{{Name: "x", Value: wfv1.AnyStringPtr(text)}}
	expandMacros(wf, o, now)
	return wf.Spec.Arguments.Parameters[0].Value.String()
}

// Launcher is launcher, for tests.
const Launcher = launcher
