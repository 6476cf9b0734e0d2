// Package ondemand notices the first object that a component acts on, so that
// the component starts only then.
package ondemand

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
)

// retryAfter is the pause after a failed request: the apiserver may be away for a moment.
const retryAfter = 200 * time.Millisecond

// Kind is a kind of object whose first one matters.
type Kind struct {
	Resource schema.GroupVersionResource
	// Fields is a selector of fields; empty selects every object.
	Fields string
}

// First returns nil as soon as the cluster holds an object of the kind, and otherwise only with the context. Objects come
// without their contents, so that waiting costs next to nothing. It logs failures and tries again.
func First(ctx context.Context, client metadata.Interface, k Kind, tell func(error)) error {
	objects := client.Resource(k.Resource)
	for ctx.Err() == nil {
		found, err := k.look(ctx, objects)
		if found {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			tell(fmt.Errorf("look for %s: %w", k.Resource.GroupResource(), err))
		}
		pause := time.Duration(0) // an apiserver ends every watch after a while
		if err != nil {
			pause = retryAfter
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return context.Cause(ctx)
}

// look lists and then watches until there is an object or the watch ends.
func (k Kind) look(ctx context.Context, objects metadata.ResourceInterface) (bool, error) {
	list, err := objects.List(ctx, metav1.ListOptions{FieldSelector: k.Fields, Limit: 1})
	if err != nil || len(list.Items) > 0 {
		return err == nil, err
	}
	events, err := objects.Watch(ctx, metav1.ListOptions{FieldSelector: k.Fields, ResourceVersion: list.ResourceVersion})
	if err != nil {
		return false, err
	}
	defer events.Stop()
	for e := range events.ResultChan() {
		switch e.Type {
		case watch.Added, watch.Modified:
			return true, nil
		case watch.Error: // most often the version is too old by now: a new list finds another
			return false, nil
		}
	}
	return false, nil
}
