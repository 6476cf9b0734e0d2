// Package provisioner makes the volumes of the storage class `local`: a claim
// gets a folder of this machine, which lives as long as the claim.
//
// Which claim gets which volume, and when a volume is free again, Kubernetes'
// own volume controllers decide; what they leave to a storage class's
// provisioner is done here. A volume is a folder, so it has no size of its own:
// it may grow to whatever the disk holds, and a claim that asks for more is
// simply told that it has it. Only a claim that asks for more than the whole disk
// is refused.
package provisioner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"

	"github.com/argosy-ml/argosy/cluster/runtime/machine"
)

// Name is what storage classes call this provisioner.
const Name = "argosy.dev/local"

// Marks that Kubernetes' volume controllers and provisioners leave for each other.
const (
	wantedFrom = "volume.kubernetes.io/storage-provisioner" // on a claim: who is to make its volume
	madeBy     = "pv.kubernetes.io/provisioned-by"          // on a volume
	// finalizer keeps a volume's object until its folder is gone.
	finalizer = "external-provisioner.volume.kubernetes.io/finalizer"
)

// Provisioner makes and removes folders.
type Provisioner struct {
	root    string
	client  kubernetes.Interface
	events  record.EventRecorder
	log     *slog.Logger
	queue   workqueue.TypedRateLimitingInterface[item]
	claims  corelisters.PersistentVolumeClaimLister
	volumes corelisters.PersistentVolumeLister
}

// item is a claim, or a volume when it has no namespace.
type item struct{ namespace, name string }

// New makes a provisioner whose folders lie in root.
func New(client kubernetes.Interface, events record.EventRecorder, root string, log *slog.Logger) *Provisioner {
	retry := workqueue.NewTypedItemExponentialFailureRateLimiter[item](50*time.Millisecond, time.Minute)
	return &Provisioner{root: root, client: client, events: events, log: log, queue: workqueue.NewTypedRateLimitingQueue(retry)}
}

// Run works until the context ends.
func (p *Provisioner) Run(ctx context.Context) error {
	factory := informers.NewSharedInformerFactoryWithOptions(p.client, 0, informers.WithTransform(func(o any) (any, error) {
		if m, ok := o.(metav1.Object); ok {
			m.SetManagedFields(nil)
		}
		return o, nil
	}))
	claims, volumes := factory.Core().V1().PersistentVolumeClaims(), factory.Core().V1().PersistentVolumes()
	p.claims, p.volumes = claims.Lister(), volumes.Lister()
	for _, inf := range []cache.SharedIndexInformer{claims.Informer(), volumes.Informer()} {
		add := func(o any) {
			m := o.(metav1.Object)
			p.queue.Add(item{m.GetNamespace(), m.GetName()})
		}
		if _, err := inf.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }}); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	factory.WaitForCacheSync(ctx.Done())
	var worker sync.WaitGroup
	defer worker.Wait()
	defer p.queue.ShutDown()
	worker.Go(func() {
		for p.next(ctx) {
		}
	})
	<-ctx.Done()
	return nil
}

func (p *Provisioner) next(ctx context.Context) bool {
	it, ended := p.queue.Get()
	if ended {
		return false
	}
	defer p.queue.Done(it)
	err := p.settle(ctx, it)
	if err == nil {
		p.queue.Forget(it)
		return true
	}
	// After a conflict the watch delivers the newer object, but perhaps a different one.
	if !apierrors.IsConflict(err) && ctx.Err() == nil {
		p.log.Warn("volume not settled", "namespace", it.namespace, "name", it.name, "err", err)
	}
	p.queue.AddRateLimited(it)
	return true
}

func (p *Provisioner) settle(ctx context.Context, it item) error {
	if it.namespace == "" {
		volume, err := p.volumes.Get(it.name)
		if err != nil {
			return ignoreGone(err)
		}
		return p.settleVolume(ctx, volume)
	}
	claim, err := p.claims.PersistentVolumeClaims(it.namespace).Get(it.name)
	if err != nil || claim.DeletionTimestamp != nil {
		return ignoreGone(err)
	}
	if claim.Spec.VolumeName != "" {
		return p.grow(ctx, claim)
	}
	if claim.Annotations[wantedFrom] != Name {
		return nil
	}
	if err := p.provision(ctx, claim); err != nil {
		p.events.Eventf(claim, corev1.EventTypeWarning, "ProvisioningFailed", "%v", err)
		return err
	}
	return nil
}

// ignoreGone is for the item itself. Of what it refers to nothing may be missing, at least not for long.
func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// provision makes a claim's folder and volume. Doing it again changes nothing.
func (p *Provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if m := claim.Spec.VolumeMode; m != nil && *m == corev1.PersistentVolumeBlock {
		return errors.New("the class makes folders, and the claim asks for a block device")
	}
	if claim.Spec.DataSource != nil || claim.Spec.DataSourceRef != nil {
		return errors.New("the class makes empty folders, and the claim asks for a copy of something (dataSource)")
	}
	if claim.Spec.StorageClassName == nil {
		return nil
	}
	class, err := p.client.StorageV1().StorageClasses().Get(ctx, *claim.Spec.StorageClassName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := p.holds(claim); err != nil {
		return err
	}
	folder := p.folder(claim)
	if err := makeFolder(folder); err != nil {
		return err
	}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: "pvc-" + string(claim.UID), Annotations: map[string]string{madeBy: Name}, Finalizers: []string{finalizer},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes:            claim.Spec.AccessModes,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}},
			StorageClassName:       class.Name,
			VolumeMode:             claim.Spec.VolumeMode,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
		},
	}
	if class.ReclaimPolicy != nil {
		volume.Spec.PersistentVolumeReclaimPolicy = *class.ReclaimPolicy
	}
	if _, err = p.client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// holds tells whether the disk is as large as a claim wants its volume to be, used or not.
func (p *Provisioner) holds(claim *corev1.PersistentVolumeClaim) error {
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return err
	}
	m, err := machine.Look(p.root)
	if err != nil {
		return err
	}
	if wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]; wanted.CmpInt64(m.Disk) > 0 {
		return fmt.Errorf("the claim asks for %s, and the disk has %s: ask for less", wanted.String(), resource.NewQuantity(m.Disk, resource.BinarySI))
	}
	return nil
}

// folder is unique to the claim: a later claim of the same name gets an empty one.
func (p *Provisioner) folder(claim *corev1.PersistentVolumeClaim) string {
	return filepath.Join(p.root, claim.Namespace, claim.Name+"."+string(claim.UID))
}

// makeFolder makes a folder for whichever user a pod runs as; the umask has no say in that.
func makeFolder(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(path, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(path, 0o777)
}

// settleVolume removes the folder and the object of a released volume.
func (p *Provisioner) settleVolume(ctx context.Context, volume *corev1.PersistentVolume) error {
	if volume.Annotations[madeBy] != Name || !slices.Contains(volume.Finalizers, finalizer) {
		return nil
	}
	// A volume in use that is deleted is released first: Kubernetes keeps it for its claim.
	deleted := volume.DeletionTimestamp != nil
	if volume.Status.Phase != corev1.VolumeReleased && (!deleted || volume.Status.Phase == corev1.VolumeBound) {
		return nil
	}
	if volume.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		if err := p.remove(volume); err != nil {
			p.events.Eventf(volume, corev1.EventTypeWarning, "VolumeFailedDelete", "%v", err)
			return err
		}
	} else if !deleted {
		return nil // the folder and its files stay until a user deletes the volume
	}
	if !deleted {
		return p.client.CoreV1().PersistentVolumes().Delete(ctx, volume.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &volume.UID},
		})
	}
	volume = volume.DeepCopy()
	volume.Finalizers = slices.DeleteFunc(volume.Finalizers, func(f string) bool { return f == finalizer })
	_, err := p.client.CoreV1().PersistentVolumes().Update(ctx, volume, metav1.UpdateOptions{})
	return err
}

// remove deletes a volume's folder. Any account that may write volumes can change a volume's object, so its path counts only
// where it lies in a namespace's folder of the root.
func (p *Provisioner) remove(volume *corev1.PersistentVolume) error {
	if volume.Spec.HostPath == nil {
		return errors.New("the volume has no folder")
	}
	folder := filepath.Clean(volume.Spec.HostPath.Path)
	if filepath.Dir(filepath.Dir(folder)) != filepath.Clean(p.root) {
		return fmt.Errorf("%s is not a volume's folder in %s; it is left as it is", folder, p.root)
	}
	root, err := os.OpenRoot(p.root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	namespace := filepath.Base(filepath.Dir(folder))
	if err := root.RemoveAll(filepath.Join(namespace, filepath.Base(folder))); err != nil {
		return err
	}
	_ = root.Remove(namespace) // succeeds with the last volume of the namespace
	return nil
}

// grow tells a claim that asks for more than it has that it has it.
func (p *Provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	wanted := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	has := claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || wanted.Cmp(has) <= 0 {
		return nil
	}
	volume, err := p.volumes.Get(claim.Spec.VolumeName)
	if err != nil || volume.Annotations[madeBy] != Name {
		return err
	}
	if err := p.holds(claim); err != nil {
		p.events.Eventf(claim, corev1.EventTypeWarning, "VolumeResizeFailed", "%v", err)
		return nil // until the claim asks for something else
	}
	size := fmt.Sprintf(`{"capacity":{"storage":%q}}`, wanted.String())
	_, err = p.client.CoreV1().PersistentVolumes().Patch(ctx, volume.Name, types.MergePatchType, []byte(`{"spec":`+size+`}`), metav1.PatchOptions{})
	if err != nil {
		return err
	}
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).
		Patch(ctx, claim.Name, types.MergePatchType, []byte(`{"status":`+size+`}`), metav1.PatchOptions{}, "status")
	return err
}
