package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/argosy-ml/argosy/server/apierr"
	"github.com/argosy-ml/argosy/server/cluster"
)

// commands are the objects by which Volcano is asked to open and close queues, in commandsNamespace. Its own program vcctl uses them too.
var commands = schema.GroupVersionResource{Group: "bus.volcano.sh", Version: "v1alpha1", Resource: "commands"}

const commandsNamespace = metav1.NamespaceDefault

var errNoVolcano = apierr.New(apierr.NotFound, "the cluster has no Volcano, and queues are Volcano's: install it (https://volcano.sh), or use the embedded cluster, which has it")

// CreateQueue implements cluster.Source.
func (v *View) CreateQueue(ctx context.Context, q cluster.QueueChange) error {
	spec, err := specOfQueue(q)
	if err != nil {
		return err
	}
	spec["weight"], spec["reclaimable"] = int64(max(q.Weight, 1)), true
	if q.Parent != "" {
		spec["parent"] = q.Parent
	}
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": volcano.String(), "kind": "Queue", "metadata": map[string]any{"name": q.Name}, "spec": spec,
	}}
	_, err = v.dynamic.Resource(queueResource).Create(ctx, object, metav1.CreateOptions{})
	return queueFault("create", q.Name, err)
}

// SetQueue implements cluster.Source.
func (v *View) SetQueue(ctx context.Context, q cluster.QueueChange) error {
	spec, err := specOfQueue(q)
	if err != nil {
		return err
	}
	if q.Weight > 0 {
		spec["weight"] = q.Weight
	}
	if len(spec) > 0 {
		patch, err := json.Marshal(map[string]any{"spec": spec})
		if err != nil {
			return apierr.New(apierr.Internal, "the change of the queue cannot be written").Because(err)
		}
		if _, err := v.dynamic.Resource(queueResource).Patch(ctx, q.Name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return queueFault("change", q.Name, err)
		}
	}
	if q.Open == nil {
		return nil
	}
	return v.open(ctx, q.Name, *q.Open)
}

// open has Volcano open or close a queue.
func (v *View) open(ctx context.Context, name string, open bool) error {
	queue, err := v.dynamic.Resource(queueResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return queueFault("read", name, err)
	}
	action, doing := "CloseQueue", "close"
	if open {
		action, doing = "OpenQueue", "open"
	}
	owner := map[string]any{
		"apiVersion": volcano.String(), "kind": "Queue", "name": name, "uid": string(queue.GetUID()), "controller": true, "blockOwnerDeletion": true,
	}
	command := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": commands.GroupVersion().String(), "kind": "Command",
		"metadata": map[string]any{"generateName": name + "-" + strings.ToLower(action) + "-", "namespace": commandsNamespace, "ownerReferences": []any{owner}},
		"action":   action, "target": maps.Clone(owner),
	}}
	_, err = v.dynamic.Resource(commands).Namespace(commandsNamespace).Create(ctx, command, metav1.CreateOptions{})
	return queueFault(doing, name, err)
}

// DeleteQueue implements cluster.Source.
func (v *View) DeleteQueue(ctx context.Context, name string) error {
	err := v.dynamic.Resource(queueResource).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: ptr.To(metav1.DeletePropagationBackground)})
	return queueFault("delete", name, err)
}

// specOfQueue is the part of a queue's spec that has amounts. An empty amount takes a limit away.
func specOfQueue(q cluster.QueueChange) (map[string]any, error) {
	spec := map[string]any{}
	for field, amounts := range map[string]map[string]string{"capability": q.Capability, "deserved": q.Deserved} {
		all := map[string]any{}
		for name, amount := range amounts {
			if amount == "" {
				all[name] = nil
				continue
			}
			n, err := resource.ParseQuantity(amount)
			if err != nil || n.Sign() < 0 {
				return nil, apierr.New(apierr.Invalid, "%s %s=%s: want an amount such as 4, 500m or 16Gi", field, name, amount)
			}
			all[name] = n.String()
		}
		if len(all) > 0 {
			spec[field] = all
		}
	}
	return spec, nil
}

// queueFault says what is wrong with a queue. A cluster without Volcano does not know the resource at all.
func queueFault(doing, name string, err error) error {
	switch {
	case apierrors.IsNotFound(err) && (doing == "create" || doing == "open" || doing == "close" || !strings.Contains(err.Error(), name)):
		return errNoVolcano
	case apierrors.IsNotFound(err):
		return apierr.New(apierr.NotFound, "there is no queue %s", name).Because(err)
	case apierrors.IsAlreadyExists(err):
		return apierr.New(apierr.Conflict, "there is a queue %s already", name).Because(err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "cannot "):
		return apierr.New(apierr.Invalid, "the server may not %s queues: apply manifests/queues to give it the right", doing).Because(err)
	}
	return explain(fmt.Sprintf("%s queue %s", doing, name), err)
}
