package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"

	"github.com/argosy-ml/argosy/cluster/control/bootstrap"
	"github.com/argosy-ml/argosy/cluster/control/ondemand"
	"github.com/argosy-ml/argosy/cluster/host/home"
	"github.com/argosy-ml/argosy/cluster/host/supervisor"
)

// demands are the kinds of objects whose first one starts an operator, and in each case Volcano, which places the pods of
// all distributed jobs. A cluster without such jobs keeps the memory of those programs.
var demands = []struct {
	ondemand.Kind
	operator string
}{
	{kind("kubeflow.org", "v2beta1", "mpijobs"), mpiOperator},
	{kind("kubeflow.org", "v1", "tfjobs"), trainingOperator},
	{kind("kubeflow.org", "v1", "pytorchjobs"), trainingOperator},
	{kind("kubeflow.org", "v1", "xgboostjobs"), trainingOperator},
	{kind("kubeflow.org", "v1", "paddlejobs"), trainingOperator},
	{kind("kubeflow.org", "v1", "jaxjobs"), trainingOperator},
	{kind("batch.volcano.sh", "v1alpha1", "jobs"), volcano},
	{kind("scheduling.volcano.sh", "v1beta1", "podgroups"), volcano},
	{fields("scheduling.volcano.sh", "v1beta1", "queues", "metadata.name!=default,metadata.name!=root"), volcano}, // it makes these two itself
	{fields("", "v1", "pods", "spec.schedulerName=volcano"), volcano},
}

// completeAgain is the pause before another attempt to complete a definition. An attempt fails when the apiserver restarts or another
// client changes the definition at the same time.
const completeAgain = 200 * time.Millisecond

func kind(group, version, resource string) ondemand.Kind {
	return fields(group, version, resource, "")
}

func fields(group, version, resource, selector string) ondemand.Kind {
	return ondemand.Kind{Resource: schema.GroupVersionResource{Group: group, Version: version, Resource: resource}, Fields: selector}
}

// serveDemand starts the children of distributed jobs when there is work for them, until the context ends. They go on until
// the cluster stops.
func (c *cluster) serveDemand(ctx context.Context) error {
	cfg := rest.CopyConfig(c.admin)
	cfg.QPS = -1 // the usual limit would delay the last of these watches by two seconds
	client, err := metadata.NewForConfig(cfg)
	if err != nil {
		return err
	}
	once := map[string]*sync.Once{}
	for name := range onDemand(c.home, c.options) {
		once[name] = &sync.Once{}
	}
	var waiting sync.WaitGroup
	for _, d := range demands {
		waiting.Go(func() {
			tell := func(err error) { c.log.Warn("waiting for distributed jobs", "error", err) }
			if ondemand.First(ctx, client, d.Kind, tell) != nil {
				return
			}
			// From now on its objects are checked in full, as the operator that is to read them expects.
			err := wait.PollUntilContextCancel(ctx, completeAgain, true, func(ctx context.Context) (bool, error) {
				err := bootstrap.CompleteDefinition(ctx, c.admin, d.Resource.GroupResource())
				if err != nil && ctx.Err() == nil {
					tell(err)
				}
				return err == nil, nil
			})
			if err != nil {
				return
			}
			for _, name := range []string{d.operator, volcano} {
				once[name].Do(func() { waiting.Go(func() { c.startOnDemand(ctx, name, d.Resource) }) })
			}
		})
	}
	waiting.Wait()
	return nil
}

// startOnDemand starts one child and says so when it cannot run: the object that needs it would wait without a word.
func (c *cluster) startOnDemand(ctx context.Context, name string, why schema.GroupVersionResource) {
	c.log.Info("start "+name, "because of", why.GroupResource())
	names, err := c.launch([]supervisor.Child{onDemand(c.home, c.options)[name]})
	if err == nil {
		err = c.children.Wait(ctx, names...)
	}
	if err != nil && ctx.Err() == nil {
		c.log.Error("start "+name, "error", err)
		fmt.Fprintf(os.Stderr, "argosy-cluster: %s are not served: %v\n", why.GroupResource(), err)
	}
}

// onDemand are the children of distributed jobs, by name.
func onDemand(h home.Home, o home.Options) map[string]supervisor.Child {
	children := map[string]supervisor.Child{}
	for _, name := range []string{mpiOperator, trainingOperator, volcano} {
		c := supervisor.Child{Stage: stageControllers, Env: memory(50, "256MiB")}
		if name == volcano {
			c.Args = []string{"--placement", o.Placement}
			// Its plugin task-topology counts a pod twice that two actions place in one round, and the scheduler would end itself over
			// that. It then goes on with a line in its log.
			c.Env = append(c.Env, "PANIC_ON_ERROR=false")
		}
		children[name] = child(h, name, c)
	}
	return children
}
