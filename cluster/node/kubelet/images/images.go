// Package images finds what the names of images stand for: an image that is stored or pulled, or this machine's files.
package images

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sync/singleflight"
	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
	"github.com/argosy-ml/argosy/cluster/runtime/container"
	"github.com/argosy-ml/argosy/cluster/runtime/image"
)

// What the names of images stand for.
const (
	Auto = "auto" // images, as long as their registry can be reached; else this machine's files
	Host = "host" // this machine's files, whatever the name
	Pull = "pull" // images
)

// Modes are the choices, the default first.
var Modes = []string{Auto, Host, Pull}

const (
	// A registry that did not answer is not asked again for this long: every pod would wait for it.
	unreachableFor = time.Minute
	// reachWithin is how long `auto` waits for a connection; without a network, names may take their time to fail.
	reachWithin = 3 * time.Second

	sweepEvery = 5 * time.Second
	// sweepAnyway is how long an image that a pod used to the end stays, when nothing else changes.
	sweepAnyway = 10 * time.Minute
)

// Finder finds the files and the configuration for which an image's name stands.
type Finder struct {
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

// Image is an unpacked image, ready for containers.
type Image struct {
	image.Image
	folder string
	layers []string // topmost first
	Config v1.Config
}

// ID is the image's name in a container's status: where it came from and exactly what it is.
func (u *Image) ID(name string) string {
	if u.Loaded {
		return u.Digest
	}
	ref, err := image.ParseName(name)
	if err != nil {
		return u.Digest
	}
	return ref.At(u.Target)
}

// HostID is the ID of this machine's files.
const HostID = image.HostName

// Config says where images are stored and come from.
type Config struct {
	Mode               string // one of Modes
	Folder             string // of the store
	Dial               image.DialFunc
	InsecureRegistries []string // those that may speak plain http
	Log                *slog.Logger

	reach time.Duration // instead of reachWithin, for tests
}

// New opens the store.
func New(cfg Config) (*Finder, error) {
	store, err := image.Open(cfg.Folder)
	if err != nil {
		return nil, err
	}
	dial := cfg.Dial
	if cfg.Mode != Pull {
		dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, cmp.Or(cfg.reach, reachWithin))
			defer cancel()
			return cfg.Dial(ctx, network, addr)
		}
	}
	if cfg.Mode != Host && container.SingleID() {
		cfg.Log.Info("files of images belong to root, and their users run as root: this machine gives the cluster one user id only")
	}
	im := &Finder{
		mode: cfg.Mode, store: store, client: image.NewClient(dial, cfg.InsecureRegistries), log: cfg.Log,
		down: map[string]time.Time{},
	}
	im.life, im.end = context.WithCancel(context.Background())
	return im, nil
}

// Close ends what is being pulled and Image, and lets go of connections. No pod may ask any more.
func (im *Finder) Close() {
	im.end()
	im.flying.Wait()
	im.client.Close()
}

// isHost says whether a container is made of this machine's files, without a look at any registry.
func (im *Finder) isHost(name string) bool {
	return im.mode == Host || podspec.Program(name) != "" || image.IsHost(name)
}

// stored returns an image that can be used without its registry; nil where there is none.
func (im *Finder) stored(ctx context.Context, ref image.Reference) (*Image, error) {
	img, err := im.store.Find(ref.String())
	switch {
	case err != nil || img == nil:
		return nil, err
	case im.store.Complete(img):
		return im.unpack(ctx, img)
	case img.Loaded:
		return nil, fmt.Errorf("image %s was Image when the cluster had other user ids, and it came from no registry: load it again with `argosy cluster image load`", ref)
	}
	return nil, nil
}

func (im *Finder) unpack(ctx context.Context, img *image.Image) (*Image, error) {
	config, err := im.store.Config(img)
	if err != nil {
		return nil, err
	}
	u := &Image{Image: *img, Config: config.Config}
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
func (im *Finder) pull(ctx context.Context, ref image.Reference, keys []authn.Keychain, fingerprint string) (*Image, error) {
	r, err := im.fly(ctx, "pull "+ref.String()+" "+fingerprint, func(ctx context.Context) (any, error) {
		return im.store.Pull(ctx, im.client, ref, keys...)
	})
	if err != nil {
		return nil, err
	}
	return im.unpack(ctx, r.(*image.Image))
}

// fly does work that others may wait for too. It goes on when the one who waits here gives up.
func (im *Finder) fly(ctx context.Context, key string, work func(context.Context) (any, error)) (any, error) {
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
func (im *Finder) isDown(registry string) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return time.Now().Before(im.down[registry])
}

// setDown remembers that a registry cannot be reached, and says whether that is news.
func (im *Finder) setDown(registry string) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	now := time.Now()
	news := !now.Before(im.down[registry])
	im.down[registry] = now.Add(unreachableFor)
	return news
}

// PullError is a failure that may go away.
type PullError struct {
	Reason string // as Kubernetes calls it
	err    error
}

func (e *PullError) Error() string { return e.err.Error() }
func (e *PullError) Unwrap() error { return e.err }

// Reasons for which a container waits for its image.
const (
	ErrImagePull        = "ErrImagePull"
	ErrImageNeverPull   = "ErrImageNeverPull"
	ErrInvalidImageName = "InvalidImageName"
	ImagePullBackOff    = "ImagePullBackOff"
)

// Find returns the image of a container, or nil for this machine's files. It calls told for the events that Kubernetes records.
func (im *Finder) Find(ctx context.Context, c *corev1.Container, keys func() ([]authn.Keychain, string), told func(kind, reason, format string, args ...any)) (*Image, error) {
	if im.isHost(c.Image) {
		return nil, nil
	}
	ref, err := image.ParseName(c.Image)
	if err != nil {
		return nil, &PullError{ErrInvalidImageName, err}
	}
	var have *Image
	down := im.mode == Auto && im.isDown(ref.Registry())
	if c.ImagePullPolicy != corev1.PullAlways || down {
		if have, err = im.stored(ctx, ref); err != nil {
			return nil, &PullError{ErrImagePull, err}
		}
	}
	switch {
	case have != nil:
		told(corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine", c.Image)
		return have, nil
	case c.ImagePullPolicy == corev1.PullNever:
		return nil, &PullError{ErrImageNeverPull, fmt.Errorf(
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
	case errors.As(err, &unreachable) && im.mode == Auto:
		return im.withoutRegistry(ctx, c, ref, unreachable, told)
	}
	return nil, &PullError{ErrImagePull, err}
}

// withoutRegistry is what is done about a registry that cannot be reached: what was pulled earlier is used, and this
// machine's files otherwise.
func (im *Finder) withoutRegistry(ctx context.Context, c *corev1.Container, ref image.Reference, why *image.UnreachableError, told func(kind, reason, format string, args ...any)) (*Image, error) {
	news := im.setDown(ref.Registry())
	have, err := im.stored(ctx, ref)
	if err != nil {
		return nil, &PullError{ErrImagePull, err}
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

// KeepClean removes unused files from the store until the context ends. uses says whether a pod uses an image.
func (im *Finder) KeepClean(ctx context.Context, uses func(*image.Image) bool) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !im.store.Changed() && time.Since(last) < sweepAnyway {
			continue
		}
		last = time.Now()
		if _, err := im.store.Sweep(uses); err != nil && ctx.Err() == nil {
			im.log.Warn("unused images not removed", "err", err)
		}
	}
}

// List returns the stored images as a Node's status lists them.
func (im *Finder) List() []corev1.ContainerImage {
	all, err := im.store.List()
	if err != nil {
		im.log.Warn("images not listed", "err", err)
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
