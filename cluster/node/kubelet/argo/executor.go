package argo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/retry"
	"github.com/argosy-ml/argosy/cluster/runtime/beneath"
	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
)

// Limits of a step's result and of its output parameters, and how often its progress file is read.
const (
	maxResult     = 256 << 10
	maxOutput     = 64 << 20 // of an output parameter; what Kubernetes stores is far less
	progressEvery = time.Second
)

// executor does the work of Argo's executor for one pod.
type Executor struct {
	Step      *Step
	Pod       *corev1.Pod
	Volumes   map[string]string // folder of each
	Client    kubernetes.Interface
	Reporters *Reporters
	MainOver  <-chan struct{} // closed when the container `main` has ended, or will not start
	Adopted   bool            // an earlier kubelet began with the pod
	Reporting context.Context // of reports, which are sent even while the pod is being stopped
	Log       *slog.Logger
	reported  bool
}

// play returns the work of a container that argoStep.plays. The work returns an exit code.
func (e *Executor) Work(c *corev1.Container) func(context.Context) (int, error) {
	if c.Name == initName {
		return e.runInit
	}
	return e.runWait
}

// argoInit does what `argoexec init` does when there is nothing to download: it writes down the template and the script.
func (e *Executor) runInit(context.Context) (int, error) {
	// Atomically: after a restart of the kubelet, the step may be using them.
	if script := e.Step.Template.Script; script != nil {
		if err := beneath.Replace(filepath.Join(e.Volumes[staging], "script"), []byte(script.Source), 0o755); err != nil {
			return 1, err
		}
	}
	if err := beneath.Replace(filepath.Join(e.Volumes[Volume], "template"), []byte(e.Step.raw), 0o444); err != nil {
		return 1, err
	}
	return 0, nil
}

// argoWait does what `argoexec wait` does when there are no artifacts: it waits for the main container, and reports its output parameters and
// its result. Argo's own announces the report when it starts, so that the controller waits for the report even if it sees the pod end. A
// short step without outputs, the usual one in a fan-out, needs neither of the two calls here.
func (e *Executor) runWait(ctx context.Context) (int, error) {
	if err := e.mayReport(e.Reporting); err != nil {
		<-e.MainOver // as Argo's executor has it
		return emissary.ExitFault, err
	}
	if e.Step.hasOutputs() || e.Adopted { // an earlier kubelet may have announced one
		if err := e.report(e.Reporting, false, map[string]any{}); err != nil {
			return 1, fmt.Errorf("announce outputs: %w", err)
		}
	}
	e.awaitMain(ctx)
	if !e.reported {
		return 0, nil
	}
	outputs, fault := e.outputs()
	// The report is owed even by a pod that is being stopped.
	result := map[string]any{}
	if len(outputs) > 0 {
		result["outputs"] = outputs
	}
	if err := e.report(e.Reporting, true, result); err != nil {
		return 1, fmt.Errorf("report outputs: %w", err)
	}
	if fault != nil {
		return emissary.ExitFault, fault
	}
	return 0, nil
}

// awaitMain waits until the main container has ended, or will not start. Meanwhile it reports the step's progress.
func (e *Executor) awaitMain(ctx context.Context) {
	look := time.NewTicker(progressEvery)
	defer look.Stop()
	progress := ""
	for {
		select {
		case <-e.MainOver:
			return
		case <-look.C:
		}
		now := e.readProgress()
		if now == progress && e.reported {
			continue
		}
		progress = now
		result := map[string]any{}
		if progress != "" {
			result["progress"] = progress
		}
		if err := e.report(ctx, false, result); err != nil && ctx.Err() == nil {
			e.Log.Warn("progress not reported", "err", err)
		}
	}
}

// readProgress returns the last line of the step's progress file, if that has the form N/M.
func (e *Executor) readProgress() string {
	file := e.Step.env["ARGO_PROGRESS_FILE"]
	rest, ok := strings.CutPrefix(file, emissary.Folder+"/")
	if !ok {
		return ""
	}
	b, err := beneath.ReadEnd(e.Volumes[Volume], rest, maxResult)
	if err != nil { // most steps never write it
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	done, all, ok := strings.Cut(last, "/")
	n, err1 := strconv.ParseUint(done, 10, 63)
	m, err2 := strconv.ParseUint(all, 10, 63)
	if !ok || err1 != nil || err2 != nil || m == 0 || n > m {
		return ""
	}
	return last
}

// argoOutputs reads the step's outputs. With an error it returns those that it could read.
func (e *Executor) outputs() (map[string]any, error) {
	outputs := map[string]any{}
	fault := e.readParameters()
	if params := e.Step.Template.Outputs.Parameters; len(params) > 0 {
		outputs["parameters"] = params
	}
	root := e.Volumes[Volume]
	if e.Step.env["ARGO_INCLUDE_SCRIPT_OUTPUT"] == "true" {
		b, err := beneath.ReadEnd(root, filepath.Join("ctr", Main, "stdout"), maxResult+1)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			fault = errors.Join(fault, err)
		}
		text := strings.TrimSuffix(string(b), "\n")
		outputs["result"] = text[max(0, len(text)-maxResult):]
	}
	return outputs, fault
}

// readParameters stops at the first that is missing, as Argo does, and says it in Argo's words: they become the step's message.
func (e *Executor) readParameters() error {
	for i := range e.Step.Template.Outputs.Parameters {
		param := &e.Step.Template.Outputs.Parameters[i]
		if param.path == "" {
			continue
		}
		where := filepath.Join("outputs", "parameters", filepath.Clean("/"+param.path))
		b, err := beneath.ReadFile(e.Volumes[Volume], where, maxOutput)
		text := string(b)
		switch {
		case err != nil && param.fallback != nil:
			text = *param.fallback
		case errors.Is(err, fs.ErrNotExist):
			return &fs.PathError{Op: "open", Path: filepath.Join(emissary.Folder, where), Err: syscall.ENOENT}
		case err != nil:
			return err
		}
		param.set(strings.TrimSuffix(text, "\n"))
	}
	return nil
}

// report creates or updates the WorkflowTaskResult with the step's outputs. Argo's controller waits while it is not complete.
func (e *Executor) report(ctx context.Context, complete bool, result map[string]any) error {
	env := e.Step.env
	labels := map[string]string{
		"workflows.argoproj.io/workflow":                 env["ARGO_WORKFLOW_NAME"],
		"workflows.argoproj.io/report-outputs-completed": strconv.FormatBool(complete),
	}
	if id := env["ARGO_INSTANCE_ID"]; id != "" {
		labels["workflows.argoproj.io/controller-instanceid"] = id
	}
	result["apiVersion"], result["kind"] = "argoproj.io/v1alpha1", "WorkflowTaskResult"
	result["metadata"] = map[string]any{
		"name": env["ARGO_NODE_ID"], "labels": labels,
		"ownerReferences": []map[string]any{{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": env["ARGO_WORKFLOW_NAME"], "uid": env["ARGO_WORKFLOW_UID"],
		}},
	}
	body, err := json.Marshal(result)
	if err != nil {
		return err
	}
	path := "/apis/argoproj.io/v1alpha1/namespaces/" + e.Pod.Namespace + "/workflowtaskresults"
	client := e.Client.CoreV1().RESTClient()
	send := func(r *rest.Request) error {
		return r.SetHeader("Accept", "application/json").Body(body).Do(ctx).Error()
	}
	create := func() error { return send(client.Post().AbsPath(path).SetHeader("Content-Type", "application/json")) }
	change := func() error { return send(client.Patch(types.MergePatchType).AbsPath(path, env["ARGO_NODE_ID"])) }
	first, second := create, change
	if e.reported {
		first, second = change, create
	}
	e.reported = true
	return retry.Do(ctx, func() error {
		err := first()
		if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			err = second()
		}
		return err
	})
}
