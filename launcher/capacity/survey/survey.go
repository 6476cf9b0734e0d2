// Package survey reads nodes, claims, storage classes and queues for package capacity.
package survey

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	storagev1client "k8s.io/client-go/kubernetes/typed/storage/v1"

	"github.com/argosy-ml/argosy/launcher/capacity"
	"github.com/argosy-ml/argosy/launcher/pending"
)

// Survey compares demands with one cluster.
type Survey struct {
	Core    corev1client.CoreV1Interface
	Storage storagev1client.StorageV1Interface
	// Queues are those of Volcano; nil where no demand names one.
	Queues dynamic.ResourceInterface
	// Keep is how long nodes and queues are remembered, or that they cannot be read; zero reads them each time.
	Keep time.Duration

	nodes  memory[[]corev1.Node]
	queues memory[map[string]capacity.Queue]
}

// memory is what was read last.
type memory[T any] struct {
	mu   sync.Mutex
	have T
	err  error
	at   time.Time
}

// get reads again what is older than it may be.
func (m *memory[T]) get(ctx context.Context, keep time.Duration, read func(context.Context) (T, error)) (T, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if keep > 0 && time.Since(m.at) < keep {
		return m.have, m.err
	}
	have, err := read(ctx)
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return have, context.Canceled // the survey stopped; the cluster is not at fault
	}
	m.have, m.err, m.at = have, err, time.Now()
	return m.have, m.err
}

// Short returns the part of a demand that the cluster can never hold; nil if it may hold all that this account can see. It adds the claims
// of the demand's pods to the demand's own. The error is that of reading the nodes; volumes that the account may not read are not checked.
func (s *Survey) Short(ctx context.Context, namespace string, d capacity.Demand) (*capacity.Shortage, error) {
	nodes, err := s.Nodes(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the nodes: %w", err)
	}
	c := capacity.Cluster{Nodes: nodes}
	if d.Claims, err = s.claims(ctx, namespace, d); err == nil && len(d.Claims) > 0 {
		err = s.volumes(ctx, &c)
	}
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("read what volumes there are: %w", err)
	}
	return c.Short(d), nil
}

// Queue gives the queue of a name; nil where the name is empty, where the cluster has no Volcano, and with an error. One that is not there
// has the state pending.Missing.
func (s *Survey) Queue(ctx context.Context, name string) (*capacity.Queue, error) {
	if name == "" || s.Queues == nil {
		return nil, nil
	}
	queues, err := s.queues.get(ctx, s.Keep, s.readQueues)
	switch q, there := queues[name]; {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list the queues: %w", err)
	case !there:
		return &capacity.Queue{Name: name, State: pending.Missing}, nil
	default:
		return &q, nil
	}
}

func (s *Survey) readQueues(ctx context.Context) (map[string]capacity.Queue, error) {
	list, err := s.Queues.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	queues := map[string]capacity.Queue{}
	for i := range list.Items {
		var q struct {
			Spec   struct{ Capability corev1.ResourceList }
			Status struct{ State string }
		}
		if text, err := list.Items[i].MarshalJSON(); err == nil {
			_ = json.Unmarshal(text, &q) // unreadable limits are not checked
		}
		name := list.Items[i].GetName()
		queues[name] = capacity.Queue{Name: name, State: q.Status.State, Capability: q.Spec.Capability}
	}
	return queues, nil
}

// Nodes reads the nodes of the cluster.
func (s *Survey) Nodes(ctx context.Context) ([]corev1.Node, error) {
	return s.nodes.get(ctx, s.Keep, func(ctx context.Context) ([]corev1.Node, error) {
		list, err := s.Core.Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, err
		}
		return list.Items, nil
	})
}

// volumes reads what volumes can be made, and were made.
func (s *Survey) volumes(ctx context.Context, c *capacity.Cluster) error {
	classes, err := s.Storage.StorageClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	volumes, err := s.Core.PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	c.Classes, c.Volumes = append(c.Classes, classes.Items...), volumes.Items
	return nil
}

// claims are those of a demand, with those that its pods mount and that have no volume yet.
func (s *Survey) claims(ctx context.Context, namespace string, d capacity.Demand) ([]capacity.Claim, error) {
	claims := d.Claims[:len(d.Claims):len(d.Claims)]
	seen := map[string]bool{}
	for _, g := range d.Groups {
		for _, v := range g.Pod.Volumes {
			switch {
			case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
				claims = append(claims, capacity.Claim{Name: v.Name, Spec: v.Ephemeral.VolumeClaimTemplate.Spec})
			case v.PersistentVolumeClaim != nil && !seen[v.PersistentVolumeClaim.ClaimName]:
				name := v.PersistentVolumeClaim.ClaimName
				seen[name] = true
				claim, err := s.Core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
				switch {
				case apierrors.IsNotFound(err): // it may come
				case err != nil:
					return nil, err
				case claim.Spec.VolumeName == "" && claim.Status.Phase != corev1.ClaimBound:
					claims = append(claims, capacity.Claim{Name: name, Spec: claim.Spec})
				}
			}
		}
	}
	return claims, nil
}
