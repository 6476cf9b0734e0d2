package quick

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// The second handler never knows of what the first is still busy with, however long that takes.
func TestHandlersInOrder(t *testing.T) {
	t.Parallel()
	news := watch.NewFake()
	informer := &inOrder{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &corev1.PersistentVolumeList{}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) { return news, nil },
	}, &corev1.PersistentVolume{}, 0, byNamespace())}
	var first atomic.Int32
	later := make(chan int32, 3)
	slow := func() {
		time.Sleep(20 * time.Millisecond)
		first.Add(1)
	}
	quick := func() { later <- first.Load() }
	for _, f := range []func(){slow, quick} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { f() }, UpdateFunc: func(any, any) { f() }, DeleteFunc: func(any) { f() },
		})
		require.NoError(t, err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() { defer close(ended); informer.Run(stop) }()
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v", ResourceVersion: "1"}}
	for i, tell := range []func(runtime.Object){news.Add, news.Modify, news.Delete} {
		tell(volume)
		require.Equal(t, int32(i+1), <-later)
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
	require.Error(t, err)
	close(stop)
	<-ended
}
