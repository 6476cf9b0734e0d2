package kubelet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	mountRetry    = time.Second
	mountPatience = 3 // attempts before a user is told; what a pod needs is often made a moment after it
)

// missingError says that something a pod refers to does not exist yet.
type missingError struct{ what string }

func (e *missingError) Error() string { return e.what + " not found" }

func missing(format string, args ...any) error { return &missingError{fmt.Sprintf(format, args...)} }

// projected is a file of a volume made from objects of the API.
type projected struct {
	data []byte
	mode fs.FileMode
}

// mountVolumes makes the pod's volumes, waiting for what they are made from.
func (p *pod) mountVolumes() error {
	p.volumes = map[string]string{}
	for _, v := range p.obj.Spec.Volumes {
		for attempt := 1; ; attempt++ {
			folder, err := p.mountVolume(v)
			if err == nil {
				p.volumes[v.Name] = folder
				break
			}
			err = fmt.Errorf("volume %s: %w", v.Name, err)
			var unsupported *unsupportedError
			if errors.As(err, &unsupported) {
				p.event(corev1.EventTypeWarning, "FailedMount", "%v", err)
				return err
			}
			if attempt%30 == mountPatience {
				p.event(corev1.EventTypeWarning, "FailedMount", "%v", err)
			}
			delay := min(time.Duration(attempt)*50*time.Millisecond, mountRetry)
			if !p.pauseFor(delay, nil) {
				return err
			}
		}
	}
	return nil
}

type unsupportedError struct{ what string }

func (e *unsupportedError) Error() string { return e.what }

func (p *pod) mountVolume(v corev1.Volume) (string, error) {
	folder := p.path("volumes", v.Name)
	switch {
	case v.HostPath != nil:
		return hostPath(v.HostPath)
	case v.PersistentVolumeClaim != nil:
		return p.claim(v.PersistentVolumeClaim.ClaimName)
	}
	if err := makeFolder(folder, 0o777); err != nil {
		return "", err
	}
	switch {
	case v.EmptyDir != nil:
		if v.EmptyDir.Medium != corev1.StorageMediumMemory {
			return folder, nil
		}
		options := "mode=0777"
		if size := v.EmptyDir.SizeLimit; size != nil && !size.IsZero() {
			options += fmt.Sprintf(",size=%d", size.Value())
		}
		return folder, unix.Mount("tmpfs", folder, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options)
	case v.ConfigMap != nil, v.Secret != nil, v.Projected != nil, v.DownwardAPI != nil:
		files, err := p.project(v)
		if err != nil {
			return "", err
		}
		return folder, writeVolume(folder, files)
	}
	return "", &unsupportedError{"the embedded cluster has emptyDir, configMap, secret, projected, downwardAPI, hostPath and persistentVolumeClaim volumes, and this is none of them"}
}

// refreshVolumes brings volumes made from objects of the API up to date.
func (p *pod) refreshVolumes(ctx context.Context) error {
	var errs []error
	for _, v := range p.obj.Spec.Volumes {
		if v.ConfigMap == nil && v.Secret == nil && v.Projected == nil || ctx.Err() != nil {
			continue
		}
		files, err := p.project(v)
		if err == nil {
			err = writeVolume(p.path("volumes", v.Name), files)
		}
		// A pod keeps what it has when its source disappears.
		var gone *missingError
		if err != nil && !errors.As(err, &gone) && !p.isEnding() {
			errs = append(errs, fmt.Errorf("volume %s: %w", v.Name, err))
		}
	}
	return errors.Join(errs...)
}

// hostPath is the machine's own file or folder: what a pod writes there stays.
func hostPath(v *corev1.HostPathVolumeSource) (string, error) {
	kind := corev1.HostPathUnset
	if v.Type != nil {
		kind = *v.Type
	}
	fi, err := os.Stat(v.Path)
	switch {
	case err == nil && kind == corev1.HostPathDirectory && !fi.IsDir(), err == nil && kind == corev1.HostPathFile && fi.IsDir():
		return "", &unsupportedError{fmt.Sprintf("hostPath %s is not of type %s", v.Path, kind)}
	case errors.Is(err, fs.ErrNotExist) && kind == corev1.HostPathDirectoryOrCreate:
		err = os.MkdirAll(v.Path, 0o755)
	case errors.Is(err, fs.ErrNotExist) && kind == corev1.HostPathFileOrCreate:
		err = os.WriteFile(v.Path, nil, 0o644)
	case errors.Is(err, fs.ErrNotExist):
		err = missing("hostPath %s", v.Path)
	}
	return v.Path, err
}

// project gathers the files of a volume made from objects of the API.
func (p *pod) project(v corev1.Volume) (map[string]projected, error) {
	files := map[string]projected{}
	switch {
	case v.ConfigMap != nil:
		data, err := p.configMap(v.ConfigMap.Name, v.ConfigMap.Optional)
		if err != nil {
			return nil, err
		}
		return files, choose(files, data, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional)
	case v.Secret != nil:
		data, err := p.secret(v.Secret.SecretName, v.Secret.Optional)
		if err != nil {
			return nil, err
		}
		return files, choose(files, data, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return files, p.downward(files, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	}
	for _, s := range v.Projected.Sources {
		if err := p.projectSource(files, s, v.Projected.DefaultMode); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (p *pod) projectSource(files map[string]projected, s corev1.VolumeProjection, mode *int32) error {
	switch {
	case s.ConfigMap != nil:
		data, err := p.configMap(s.ConfigMap.Name, s.ConfigMap.Optional)
		if err != nil {
			return err
		}
		return choose(files, data, s.ConfigMap.Items, mode, s.ConfigMap.Optional)
	case s.Secret != nil:
		data, err := p.secret(s.Secret.Name, s.Secret.Optional)
		if err != nil {
			return err
		}
		return choose(files, data, s.Secret.Items, mode, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return p.downward(files, s.DownwardAPI.Items, mode)
	case s.ServiceAccountToken != nil:
		token, err := p.k.tokens.get(p.starting, p.obj.Namespace, p.obj.Spec.ServiceAccountName, s.ServiceAccountToken)
		if err != nil {
			return err
		}
		return addFile(files, s.ServiceAccountToken.Path, []byte(token), mode, nil)
	}
	return &unsupportedError{"a projected source is of a kind that the embedded cluster does not have"}
}

// choose adds the wanted keys of an object to a volume, or all of them.
func choose(files map[string]projected, data map[string][]byte, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	if len(items) == 0 {
		for key, b := range data {
			if err := addFile(files, key, b, mode, nil); err != nil {
				return err
			}
		}
		return nil
	}
	for _, it := range items {
		b, ok := data[it.Key]
		if !ok && optional != nil && *optional {
			continue
		}
		if !ok {
			return missing("key %q", it.Key)
		}
		if err := addFile(files, it.Path, b, mode, it.Mode); err != nil {
			return err
		}
	}
	return nil
}

func (p *pod) downward(files map[string]projected, items []corev1.DownwardAPIVolumeFile, mode *int32) error {
	for _, it := range items {
		var value string
		var err error
		switch {
		case it.FieldRef != nil:
			value, err = p.field(it.FieldRef.FieldPath)
		case it.ResourceFieldRef != nil:
			value, err = p.resourceField(nil, it.ResourceFieldRef)
		}
		if err != nil {
			return err
		}
		if err := addFile(files, it.Path, []byte(value), mode, it.Mode); err != nil {
			return err
		}
	}
	return nil
}

func addFile(files map[string]projected, name string, data []byte, defaultMode, mode *int32) error {
	clean := path.Clean(name)
	if !filepath.IsLocal(clean) || clean == "." {
		return &unsupportedError{fmt.Sprintf("path %q leaves the volume", name)}
	}
	m := fs.FileMode(0o644)
	if chosen := cmp.Or(mode, defaultMode); chosen != nil {
		m = fs.FileMode(*chosen) & fs.ModePerm
	}
	files[clean] = projected{data: data, mode: m}
	return nil
}

// writeVolume makes a folder hold exactly these files. Each appears whole, and
// those that are right already are not touched.
func writeVolume(folder string, files map[string]projected) error {
	for name, f := range files {
		path := filepath.Join(folder, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, f.data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := replaceFile(path, f.data, f.mode); err != nil {
			return err
		}
	}
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if _, wanted := files[name]; !wanted {
			return os.Remove(path)
		}
		return nil
	})
}

// replaceFile puts a file in place at one stroke.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	tmp := filepath.Join(filepath.Dir(path), ".new."+filepath.Base(path))
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(tmp, mode); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// rootCA is the ConfigMap with the cluster's authority, which every namespace is promised.
const rootCA = "kube-root-ca.crt"

func (p *pod) configMap(name string, optional *bool) (map[string][]byte, error) {
	if name == rootCA { // its controller may be a moment behind a new namespace
		return map[string][]byte{"ca.crt": p.k.cfg.CA}, nil
	}
	cm, err := p.k.client.CoreV1().ConfigMaps(p.obj.Namespace).Get(p.starting, name, metav1.GetOptions{})
	if err != nil {
		return nil, lookup(err, "configmap", name, optional)
	}
	data := map[string][]byte{}
	for key, s := range cm.Data {
		data[key] = []byte(s)
	}
	for key, b := range cm.BinaryData {
		data[key] = b
	}
	return data, nil
}

func (p *pod) secret(name string, optional *bool) (map[string][]byte, error) {
	s, err := p.k.client.CoreV1().Secrets(p.obj.Namespace).Get(p.starting, name, metav1.GetOptions{})
	if err != nil {
		return nil, lookup(err, "secret", name, optional)
	}
	return s.Data, nil
}

// lookup makes an error of the API one for the reader, or none where the object may be missing.
func lookup(err error, kind, name string, optional *bool) error {
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("%s %q: %w", kind, name, err)
	}
	if optional != nil && *optional {
		return nil
	}
	return missing("%s %q", kind, name)
}

// subPath is a place inside a volume, which it cannot leave.
func subPath(folder, sub string) string {
	return filepath.Join(folder, filepath.Clean("/"+strings.TrimSpace(sub)))
}
