package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/emissary"
)

// How much of a step's output Argo keeps as its result, and how often its progress is looked at.
const (
	maxResult     = 256 << 10
	maxOutput     = 64 << 20 // of an output parameter; what Kubernetes stores is far less
	progressEvery = time.Second
)

// argoInit does what `argoexec init` does when there is nothing to download: it writes down the template and the script.
func (p *pod) argoInit(context.Context) (int, error) {
	// At one stroke: after a restart of the kubelet, the step may be using them.
	if script := p.argo.tmpl.Script; script != nil {
		if err := replaceFile(filepath.Join(p.volumes[argoStaging], "script"), []byte(script.Source), 0o755); err != nil {
			return 1, err
		}
	}
	if err := replaceFile(filepath.Join(p.volumes[argoVolume], "template"), []byte(p.argo.raw), 0o444); err != nil {
		return 1, err
	}
	return 0, nil
}

// argoWait does what `argoexec wait` does when there are no artifacts: it waits
// for the main container and reports its output parameters and result. Argo's
// own announces its report when it starts: the controller then does not take
// the step for over before the report is complete, though it sees the pod end
// or has had it stopped. Here a step that is over at once and has no outputs,
// as most of a fan-out are, spares the controller both.
func (p *pod) argoWait(ctx context.Context) (int, error) {
	if p.argo.hasOutputs() || p.adopted { // an earlier kubelet may have announced one
		if err := p.report(p.k.reporting, false, map[string]any{}); err != nil {
			return 1, fmt.Errorf("announce outputs: %w", err)
		}
	}
	p.awaitMain(ctx)
	if !p.reported {
		return 0, nil
	}
	outputs, fault := p.argoOutputs()
	// The report is owed even by a pod that is being stopped.
	result := map[string]any{}
	if len(outputs) > 0 {
		result["outputs"] = outputs
	}
	if err := p.report(p.k.reporting, true, result); err != nil {
		return 1, fmt.Errorf("report outputs: %w", err)
	}
	if fault != nil {
		return emissary.ExitFault, fault
	}
	return 0, nil
}

// awaitMain returns when the main container is over, or is not going to be
// started. Of one that takes longer, it reports meanwhile how far it has come.
func (p *pod) awaitMain(ctx context.Context) {
	look := time.NewTicker(progressEvery)
	defer look.Stop()
	progress := ""
	for {
		select {
		case <-p.mainOver:
			return
		case <-look.C:
		}
		now := p.readProgress()
		if now == progress && p.reported {
			continue
		}
		progress = now
		result := map[string]any{}
		if progress != "" {
			result["progress"] = progress
		}
		if err := p.report(ctx, false, result); err != nil && ctx.Err() == nil {
			p.log.Warn("progress not reported", "err", err)
		}
	}
}

// readProgress is the last line of the file in which a step tells how far it has come, if that is `N/M`.
func (p *pod) readProgress() string {
	file := p.argo.env["ARGO_PROGRESS_FILE"]
	rest, ok := strings.CutPrefix(file, emissary.Folder+"/")
	if !ok {
		return ""
	}
	b, err := endInside(p.volumes[argoVolume], rest, maxResult)
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

// argoOutputs reads what the step put out. It returns what could be read even with an error.
func (p *pod) argoOutputs() (map[string]any, error) {
	outputs := map[string]any{}
	fault := p.readParameters()
	if params := p.argo.tmpl.Outputs.Parameters; len(params) > 0 {
		outputs["parameters"] = params
	}
	root := p.volumes[argoVolume]
	if p.argo.env["ARGO_INCLUDE_SCRIPT_OUTPUT"] == "true" {
		b, err := endInside(root, filepath.Join("ctr", argoMain, "stdout"), maxResult+1)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			fault = errors.Join(fault, err)
		}
		text := strings.TrimSuffix(string(b), "\n")
		outputs["result"] = text[max(0, len(text)-maxResult):]
	}
	return outputs, fault
}

// readParameters stops at the first that is missing, as Argo does, and says it in Argo's words: they become the step's message.
func (p *pod) readParameters() error {
	for i := range p.argo.tmpl.Outputs.Parameters {
		param := &p.argo.tmpl.Outputs.Parameters[i]
		if param.path == "" {
			continue
		}
		where := filepath.Join("outputs", "parameters", filepath.Clean("/"+param.path))
		b, err := readInside(p.volumes[argoVolume], where, maxOutput)
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

// report makes or completes the WorkflowTaskResult that Argo's controller takes outputs from. It waits for one that is not
// complete.
func (p *pod) report(ctx context.Context, complete bool, result map[string]any) error {
	env := p.argo.env
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
	path := "/apis/argoproj.io/v1alpha1/namespaces/" + p.obj.Namespace + "/workflowtaskresults"
	client := p.k.client.CoreV1().RESTClient()
	send := func(r *rest.Request) error {
		return r.SetHeader("Accept", "application/json").Body(body).Do(ctx).Error()
	}
	create := func() error { return send(client.Post().AbsPath(path).SetHeader("Content-Type", "application/json")) }
	change := func() error { return send(client.Patch(types.MergePatchType).AbsPath(path, env["ARGO_NODE_ID"])) }
	first, second := create, change
	if p.reported {
		first, second = change, create
	}
	p.reported = true
	return retry(ctx, func() error {
		err := first()
		if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
			err = second()
		}
		return err
	})
}
