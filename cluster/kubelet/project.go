package kubelet

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// projected is a file of a volume made from objects of the API.
type projected struct {
	data  []byte
	mode  fs.FileMode
	owner *int64 // nil: root of the pod
}

// isProjected says whether a volume is made from objects of the API; those are never written by pods.
func isProjected(v corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
}

// project gathers the files of a volume made from objects of the API.
func (p *pod) project(ctx context.Context, v corev1.Volume) (map[string]projected, error) {
	files := map[string]projected{}
	switch {
	case v.ConfigMap != nil:
		return files, p.projectConfigMap(ctx, files, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.DefaultMode, v.ConfigMap.Optional)
	case v.Secret != nil:
		return files, p.projectSecret(ctx, files, v.Secret.SecretName, v.Secret.Items, v.Secret.DefaultMode, v.Secret.Optional)
	case v.DownwardAPI != nil:
		return files, p.downward(files, v.DownwardAPI.Items, v.DownwardAPI.DefaultMode)
	}
	for _, s := range v.Projected.Sources {
		if err := p.projectSource(ctx, files, s, v.Projected.DefaultMode); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (p *pod) projectSource(ctx context.Context, files map[string]projected, s corev1.VolumeProjection, mode *int32) error {
	switch {
	case s.ConfigMap != nil:
		return p.projectConfigMap(ctx, files, s.ConfigMap.Name, s.ConfigMap.Items, mode, s.ConfigMap.Optional)
	case s.Secret != nil:
		return p.projectSecret(ctx, files, s.Secret.Name, s.Secret.Items, mode, s.Secret.Optional)
	case s.DownwardAPI != nil:
		return p.downward(files, s.DownwardAPI.Items, mode)
	case s.ServiceAccountToken != nil:
		return p.projectToken(ctx, files, s.ServiceAccountToken, mode)
	}
	return &unsupportedError{"a projected source is of a kind that the embedded cluster does not have"}
}

func (p *pod) projectConfigMap(ctx context.Context, files map[string]projected, name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	data, err := p.configMap(ctx, name, optional)
	if err != nil {
		return err
	}
	return choose(files, data, items, mode, isTrue(optional), "configmap references non-existent config key: %s")
}

func (p *pod) projectSecret(ctx context.Context, files map[string]projected, name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	data, err := p.secret(ctx, name, optional)
	if err != nil {
		return err
	}
	return choose(files, data, items, mode, isTrue(optional), "references non-existent secret key: %s")
}

// projectToken adds a token that, where the pod has a user or a group for its files, only these can read.
func (p *pod) projectToken(ctx context.Context, files map[string]projected, t *corev1.ServiceAccountTokenProjection, mode *int32) error {
	token, err := p.k.tokens.get(ctx, p.obj.Namespace, p.obj.Spec.ServiceAccountName, t)
	if err != nil {
		return err
	}
	if err := addFile(files, t.Path, []byte(token), mode, nil); err != nil {
		return err
	}
	f := files[path.Clean(t.Path)]
	f.owner = p.onlyUser()
	if f.owner != nil || p.volumeGroup() != nil {
		f.mode = 0o600
	}
	files[path.Clean(t.Path)] = f
	return nil
}

// onlyUser is the user of all the pod's containers, if they agree on one.
func (p *pod) onlyUser() *int64 {
	if p.k.base.single {
		return nil
	}
	var user *int64
	for _, list := range [][]corev1.Container{p.obj.Spec.InitContainers, p.obj.Spec.Containers} {
		for i := range list {
			own, _ := contextsOf(p.obj, &list[i])
			if own.RunAsUser == nil || programOf(list[i].Image) == "argoexec" || user != nil && *user != *own.RunAsUser {
				return nil
			}
			user = own.RunAsUser
		}
	}
	return user
}

// choose adds the wanted keys of an object to a volume, or all of them.
func choose(files map[string]projected, data map[string][]byte, items []corev1.KeyToPath, mode *int32, optional bool, missingKey string) error {
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
		if !ok && optional {
			continue
		}
		if !ok {
			return unusable(missingKey, it.Key)
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

// rootCA is the ConfigMap with the cluster's authority, which every namespace is promised.
const rootCA = "kube-root-ca.crt"

func (p *pod) configMap(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	if name == rootCA { // its controller may be a moment behind a new namespace
		return map[string][]byte{"ca.crt": p.k.cfg.CA}, nil
	}
	cm, err := p.k.client.CoreV1().ConfigMaps(p.obj.Namespace).Get(ctx, name, metav1.GetOptions{})
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

func (p *pod) secret(ctx context.Context, name string, optional *bool) (map[string][]byte, error) {
	s, err := p.k.client.CoreV1().Secrets(p.obj.Namespace).Get(ctx, name, metav1.GetOptions{})
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
	if isTrue(optional) {
		return nil
	}
	return missing("%s %q", kind, name)
}
