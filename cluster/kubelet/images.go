package kubelet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/container"
	"github.com/argosy-ml/argosy/cluster/image"
)

// What the names of images stand for.
const (
	ImagesAuto = "auto" // images, as long as their registry can be reached; else this machine's files
	ImagesHost = "host" // this machine's files, whatever the name
	ImagesPull = "pull" // images
)

// ImageModes are the choices, the default first.
var ImageModes = []string{ImagesAuto, ImagesHost, ImagesPull}

const (
	// A registry that did not answer is not asked again for this long: every pod would wait for it.
	unreachableFor = time.Minute
	// reachWithin is how long `auto` waits for a connection; without a network, names may take their time to fail.
	reachWithin = 3 * time.Second
	sweepEvery  = 5 * time.Second
	// sweepAnyway is how long an image that a pod used to the end stays, when nothing else changes.
	sweepAnyway = 10 * time.Minute
)

// images finds the files and the configuration that an image's name stands for.
type images struct {
	mode    string
	store   *image.Store
	client  *image.Client
	log     *slog.Logger
	flights singleflight.Group
	flying  sync.WaitGroup
	life    context.Context // of pulls: they go on when the pod that asked first is gone
	end     context.CancelFunc

	mu   sync.Mutex
	down map[string]time.Time // registries that could not be reached, and until when that is believed
}

// unpacked is an image that containers can be made of.
type unpacked struct {
	image.Image
	folder string
	layers []string // topmost first
	config v1.Config
}

// id is the image's name in a container's status: where it came from and exactly what it is.
func (u *unpacked) id(name string) string {
	if u.Loaded {
		return u.Digest
	}
	ref, err := image.ParseName(name)
	if err != nil {
		return u.Digest
	}
	return ref.At(u.Target)
}

// hostID is the id of this machine's files.
const hostID = image.HostName

func newImages(cfg Config) (*images, error) {
	store, err := image.Open(cfg.ImageStore)
	if err != nil {
		return nil, err
	}
	dial := cfg.Dial
	if cfg.Images != ImagesPull {
		dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, reachWithin)
			defer cancel()
			return cfg.Dial(ctx, network, addr)
		}
	}
	if cfg.Images != ImagesHost && container.SingleID() {
		cfg.Log.Info("files of images belong to root, and their users run as root: this machine gives the cluster one user id only")
	}
	im := &images{
		mode: cfg.Images, store: store, client: image.NewClient(dial, cfg.InsecureRegistries), log: cfg.Log,
		down: map[string]time.Time{},
	}
	im.life, im.end = context.WithCancel(context.Background())
	return im, nil
}

// close ends what is being pulled and unpacked, and lets go of connections. No pod may ask any more.
func (im *images) close() {
	im.end()
	im.flying.Wait()
	im.client.Close()
}

// isHost says whether a container is made of this machine's files, without a look at any registry.
func (im *images) isHost(name string) bool {
	return im.mode == ImagesHost || programOf(name) != "" || image.IsHost(name)
}

// stored returns an image that can be used without its registry; nil where there is none.
func (im *images) stored(ctx context.Context, ref image.Reference) (*unpacked, error) {
	img, err := im.store.Find(ref.String())
	switch {
	case err != nil || img == nil:
		return nil, err
	case im.store.Complete(img):
		return im.unpack(ctx, img)
	case img.Loaded:
		return nil, fmt.Errorf("image %s was unpacked when the cluster had other user ids, and it came from no registry: load it again with `argosy cluster image load`", ref)
	}
	return nil, nil
}

func (im *images) unpack(ctx context.Context, img *image.Image) (*unpacked, error) {
	config, err := im.store.Config(img)
	if err != nil {
		return nil, err
	}
	u := &unpacked{Image: *img, config: config.Config}
	// Several containers may want the same layers at once.
	type result struct {
		folder string
		layers []string
	}
	r, err := im.fly(ctx, "unpack "+img.Digest, func(ctx context.Context) (any, error) {
		folder, layers, err := im.store.Unpacked(ctx, img)
		return result{folder, layers}, err
	})
	if err != nil {
		return nil, err
	}
	u.folder, u.layers = r.(result).folder, r.(result).layers
	return u, nil
}

// pull gets an image from its registry. Pods that want the same at the same time, with the same credentials, share it.
func (im *images) pull(ctx context.Context, ref image.Reference, keys []authn.Keychain, fingerprint string) (*unpacked, error) {
	r, err := im.fly(ctx, "pull "+ref.String()+" "+fingerprint, func(ctx context.Context) (any, error) {
		return im.store.Pull(ctx, im.client, ref, keys...)
	})
	if err != nil {
		return nil, err
	}
	return im.unpack(ctx, r.(*image.Image))
}

// fly does work that others may wait for too. It goes on when the one who waits here gives up.
func (im *images) fly(ctx context.Context, key string, work func(context.Context) (any, error)) (any, error) {
	done := make(chan singleflight.Result, 1)
	im.flying.Go(func() {
		v, err, _ := im.flights.Do(key, func() (any, error) { return work(im.life) })
		done <- singleflight.Result{Val: v, Err: err}
	})
	select {
	case r := <-done:
		return r.Val, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// isDown says whether a registry was found unreachable a moment ago.
func (im *images) isDown(registry string) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return time.Now().Before(im.down[registry])
}

// setDown remembers that a registry cannot be reached, and says whether that is news.
func (im *images) setDown(registry string) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	now := time.Now()
	news := !now.Before(im.down[registry])
	im.down[registry] = now.Add(unreachableFor)
	return news
}

// sweepImages removes from the store what no image and no pod needs.
func (k *Kubelet) sweepImages(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !k.images.store.Changed() && time.Since(last) < sweepAnyway {
			continue
		}
		last = time.Now()
		if _, err := k.images.store.Sweep(k.usesImage); err != nil && ctx.Err() == nil {
			k.log.Warn("unused images not removed", "err", err)
		}
	}
}

// usesImage says whether a pod that is not over uses an image, going by what it runs and, after a restart of the
// kubelet, by what it said then.
func (k *Kubelet) usesImage(img *image.Image) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.known {
		if p.uses(img) {
			return true
		}
	}
	return false
}

func (p *pod) uses(img *image.Image) bool {
	select {
	case <-p.done:
		return false
	default:
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, u := range p.images {
		if u != nil && u.Digest == img.Digest {
			return true
		}
	}
	for _, r := range p.record.Images {
		if strings.HasSuffix(r.ID, img.Digest) || strings.HasSuffix(r.ID, img.Target) {
			return true
		}
	}
	return false
}

// nodeImages are the stored images as a Node's status lists them.
func (k *Kubelet) nodeImages() []corev1.ContainerImage {
	all, err := k.images.store.List()
	if err != nil {
		k.log.Warn("images not listed", "err", err)
	}
	const most = 50 // as Kubernetes has it; the list is sent with every heartbeat
	var out []corev1.ContainerImage
	for _, img := range all[:min(len(all), most)] {
		names := slices.Clone(img.Names)
		if ref, err := image.ParseName(img.Names[0]); err == nil && !img.Loaded {
			names = append([]string{ref.At(img.Target)}, names...)
		}
		out = append(out, corev1.ContainerImage{Names: names, SizeBytes: img.Size()})
	}
	return out
}

// pullError is a failure that a container waits to go away.
type pullError struct {
	reason string // as Kubernetes calls it
	err    error
}

func (e *pullError) Error() string { return e.err.Error() }
func (e *pullError) Unwrap() error { return e.err }

// Reasons for which a container waits for its image.
const (
	errImagePull      = "ErrImagePull"
	errImageNeverPull = "ErrImageNeverPull"
	errImageName      = "InvalidImageName"
	imagePullBackOff  = "ImagePullBackOff"
)

// find finds the image of a container; nil stands for this machine's files. Told hears of what Kubernetes makes events of.
func (im *images) find(ctx context.Context, c *corev1.Container, keys func() ([]authn.Keychain, string), told func(kind, reason, format string, args ...any)) (*unpacked, error) {
	if im.isHost(c.Image) {
		return nil, nil
	}
	ref, err := image.ParseName(c.Image)
	if err != nil {
		return nil, &pullError{errImageName, err}
	}
	var have *unpacked
	down := im.mode == ImagesAuto && im.isDown(ref.Registry())
	if c.ImagePullPolicy != corev1.PullAlways || down {
		if have, err = im.stored(ctx, ref); err != nil {
			return nil, &pullError{errImagePull, err}
		}
	}
	switch {
	case have != nil:
		told(corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine", c.Image)
		return have, nil
	case c.ImagePullPolicy == corev1.PullNever:
		return nil, &pullError{errImageNeverPull, fmt.Errorf(
			"container image %q is not present with pull policy of Never: load it with `argosy cluster image load`, or choose another imagePullPolicy", c.Image)}
	case down:
		return nil, nil
	}
	credentials, fingerprint := keys()
	told(corev1.EventTypeNormal, "Pulling", "Pulling image %q", c.Image)
	start := time.Now()
	u, err := im.pull(ctx, ref, credentials, fingerprint)
	var unreachable *image.UnreachableError
	switch {
	case err == nil:
		took := time.Since(start).Round(time.Millisecond)
		told(corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %v (%v including waiting). Image size: %d bytes.", c.Image, took, took, u.Size())
		return u, nil
	case errors.As(err, &unreachable) && im.mode == ImagesAuto:
		return im.withoutRegistry(ctx, c, ref, unreachable, told)
	}
	return nil, &pullError{errImagePull, err}
}

// withoutRegistry is what is done about a registry that cannot be reached: what was pulled earlier is used, and this
// machine's files otherwise.
func (im *images) withoutRegistry(ctx context.Context, c *corev1.Container, ref image.Reference, why *image.UnreachableError, told func(kind, reason, format string, args ...any)) (*unpacked, error) {
	news := im.setDown(ref.Registry())
	have, err := im.stored(ctx, ref)
	if err != nil {
		return nil, &pullError{errImagePull, err}
	}
	instead := "this machine's own files, not the image's"
	if have != nil {
		instead = "the image as it was pulled earlier"
	}
	if news {
		im.log.Warn("a registry cannot be reached; containers run on this machine's files unless their image is stored", "registry", ref.Registry(), "err", why.Err)
	}
	told(corev1.EventTypeWarning, "RegistryUnreachable", "%v. Container %s runs on %s; start the cluster with --images=pull to have it wait, or with --images=host if that is what you want", why, c.Name, instead)
	return have, nil
}
