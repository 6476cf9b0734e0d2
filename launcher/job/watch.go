package job

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// view is the launcher's picture of its job and the job's pods, kept fresh by
// watches that list again when they break.
type view struct {
	kind       *Kind
	jobs, pods cache.SharedInformer
	// changed holds a token when something changed since it was last taken.
	changed chan struct{}
	// denied holds the error when the launcher may not look at all.
	denied chan error
	// victim is the first pod that was preempted. Such a pod may be gone before the launcher looks.
	victim atomic.Pointer[corev1.Pod]
}

func (l *Launcher) newView(name string) *view {
	v := &view{kind: l.Spec.Kind, changed: make(chan struct{}, 1), denied: make(chan error, 1)}
	ofJob := fields.OneTermEqualSelector("metadata.name", name).String()
	v.jobs = cache.NewSharedInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector = ofJob
			return l.Jobs.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			o.FieldSelector = ofJob
			return l.Jobs.Watch(ctx, o)
		},
	}, &unstructured.Unstructured{}, 0)
	ofPods := v.kind.podLabels(name).String()
	v.pods = cache.NewSharedInformer(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.LabelSelector = ofPods
			return l.Pods.List(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (apiwatch.Interface, error) {
			o.LabelSelector = ofPods
			return l.Pods.Watch(ctx, o)
		},
	}, &corev1.Pod{}, 0)
	return v
}

// run watches until ctx ends.
func (v *view) run(ctx context.Context) error {
	poke := func() {
		select {
		case v.changed <- struct{}{}:
		default:
		}
	}
	saw := func(o any) {
		if pod, ok := o.(*corev1.Pod); ok && isPreempted(pod) {
			v.victim.CompareAndSwap(nil, pod)
		}
		poke()
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, informer := range []cache.SharedInformer{v.jobs, v.pods} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: saw, UpdateFunc: func(_, o any) { saw(o) }, DeleteFunc: saw,
		})
		if err != nil {
			return err
		}
		err = informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
			if apierrors.IsForbidden(err) {
				select {
				case v.denied <- err:
				default:
				}
			}
		})
		if err != nil {
			return err
		}
		wg.Go(func() { informer.RunWithContext(ctx) })
	}
	return nil
}

// ready tells whether both lists have come.
func (v *view) ready() bool { return v.jobs.HasSynced() && v.pods.HasSynced() }

// state is one look at the view.
type state struct {
	kind   *Kind
	job    *unstructured.Unstructured // nil when it is gone
	status status
	pods   []*corev1.Pod // by age
	victim *corev1.Pod   // that was preempted; nil when none was
}

func (v *view) state() state {
	s := state{kind: v.kind, victim: v.victim.Load()}
	for _, o := range v.jobs.GetStore().List() {
		if job, ok := o.(*unstructured.Unstructured); ok {
			s.job, s.status = job, v.kind.read(job)
		}
	}
	for _, o := range v.pods.GetStore().List() {
		if pod, ok := o.(*corev1.Pod); ok {
			s.pods = append(s.pods, pod)
		}
	}
	s.sort()
	return s
}

func (s *state) sort() {
	slices.SortFunc(s.pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
}

// of are the pods of a role; of all when it is empty.
func (s *state) of(role string) (pods []*corev1.Pod) {
	for _, pod := range s.pods {
		if name, _ := s.kind.place(pod); role == "" || name == role {
			pods = append(pods, pod)
		}
	}
	return pods
}

// speakers are the pods whose output is read.
func (s *state) speakers() []*corev1.Pod { return s.of(s.kind.speaks) }
