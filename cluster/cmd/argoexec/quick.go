//go:build argoexec

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	wfv1 "github.com/argoproj/argo-workflows/v3/pkg/apis/workflow/v1alpha1"
	"github.com/argoproj/argo-workflows/v3/pkg/client/clientset/versioned"
	"github.com/argoproj/argo-workflows/v3/workflow/common"
	"github.com/argoproj/argo-workflows/v3/workflow/executor"
	argoemissary "github.com/argoproj/argo-workflows/v3/workflow/executor/emissary"

	"github.com/argosy-ml/argosy/cluster/runtime/emissary"
)

func quickInit() *cobra.Command {
	return &cobra.Command{
		Use:   "quick-init",
		Short: "Load artifacts",
		RunE: func(cmd *cobra.Command, _ []string) error {
			we, err := newExecutor()
			if err != nil {
				return err
			}
			defer we.HandleError(cmd.Context())
			for _, do := range []func() error{we.Init, we.StageFiles, func() error { return we.LoadArtifacts(cmd.Context()) }} {
				if err := do(); err != nil {
					we.AddError(err)
					return fmt.Errorf("%+v", err)
				}
			}
			return nil
		},
	}
}

func quickWait() *cobra.Command {
	return &cobra.Command{
		Use:   "quick-wait",
		Short: "Wait for the main container to finish and save artifacts",
		RunE: func(cmd *cobra.Command, _ []string) error {
			we, err := newExecutor()
			if err != nil {
				return err
			}
			if err := wait(cmd.Context(), we); err != nil {
				return fmt.Errorf("%+v", err)
			}
			return nil
		},
	}
}

// wait takes the steps of Argo's own `wait` in the same order.
func wait(ctx context.Context, we *executor.WorkflowExecutor) error {
	// What the step put out is reported even when the pod is being stopped.
	report := context.WithoutCancel(ctx)
	defer we.HandleError(report)
	defer we.FinalizeOutput(report)
	we.InitializeOutput(report)
	note := func(err error) {
		if err != nil {
			we.AddError(err)
		}
	}
	note(we.Wait(ctx))
	if we.Template.Resource != nil {
		note(we.ReportOutputsLogs(report))
		return we.HasError()
	}
	note(we.CaptureScriptResult(report))
	note(we.SaveParameters(report))
	artifacts, err := we.SaveArtifacts(report)
	note(err)
	note(we.ReportOutputs(report, append(artifacts, we.SaveLogs(report)...)))
	return we.HasError()
}

// newExecutor is Argo's executor as the controller describes it in the environment.
func newExecutor() (*executor.WorkflowExecutor, error) {
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{})
	cfg, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	argo, err := versioned.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	tmpl, err := readTemplate()
	if err != nil {
		return nil, fmt.Errorf("read the template: %w", err)
	}
	deadline, err := time.Parse(time.RFC3339, os.Getenv(common.EnvVarDeadline))
	if err != nil {
		return nil, err
	}
	stock, err := argoemissary.New()
	if err != nil {
		return nil, err
	}
	// Empty or wrong durations switch the report of progress off, as with Argo.
	patch, _ := time.ParseDuration(os.Getenv(common.EnvVarProgressPatchTickDuration))
	look, _ := time.ParseDuration(os.Getenv(common.EnvVarProgressFileTickDuration))
	we := executor.NewExecutor(kube, argo.ArgoprojV1alpha1().WorkflowTaskResults(namespace), kube.RESTClient(),
		os.Getenv(common.EnvVarPodName), types.UID(os.Getenv(common.EnvVarPodUID)),
		os.Getenv(common.EnvVarWorkflowName), types.UID(os.Getenv(common.EnvVarWorkflowUID)),
		os.Getenv(common.EnvVarNodeID), namespace, &runtime{stock},
		*tmpl, os.Getenv(common.EnvVarIncludeScriptOutput) == "true", deadline, patch, look)
	return &we, nil
}

// readTemplate reads the template from the environment or, in `wait`, from where `init` wrote it.
func readTemplate() (*wfv1.Template, error) {
	text, ok := os.LookupEnv(common.EnvVarTemplate)
	file := ""
	switch {
	case !ok:
		file = filepath.Join(common.VarRunArgoPath, "template")
	case text == common.EnvVarTemplateOffloaded:
		file = filepath.Join(common.EnvConfigMountPath, common.EnvVarTemplate)
	}
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	tmpl := &wfv1.Template{}
	return tmpl, json.Unmarshal([]byte(text), tmpl)
}

// runtime is how the executor deals with the other containers of the pod: as Argo's own does, but without looking each second.
type runtime struct {
	executor.ContainerRuntimeExecutor
}

// Init writes the template down for the emissaries. The executor itself is put in place by the kubelet.
func (r *runtime) Init(tmpl wfv1.Template) error {
	emissary.Shared()
	data, err := json.Marshal(tmpl)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(common.VarRunArgoPath, "template"), data, 0o444)
}

// Wait returns when all the containers have ended.
func (r *runtime) Wait(ctx context.Context, containers []string) error {
	emissary.Shared()
	for _, name := range containers {
		if _, err := emissary.Ended(ctx, common.VarRunArgoPath, name); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends the containers, by force when the grace is over.
func (r *runtime) Kill(ctx context.Context, containers []string, grace time.Duration) error {
	gentle, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for _, stage := range []struct {
		ctx context.Context
		sig syscall.Signal
	}{{gentle, syscall.SIGTERM}, {ctx, syscall.SIGKILL}} {
		for _, name := range containers {
			if err := emissary.Signal(common.VarRunArgoPath, name, stage.sig); err != nil {
				return err
			}
		}
		if err := r.Wait(stage.ctx, containers); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}
