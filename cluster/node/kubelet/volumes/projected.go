package volumes

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/argosy-ml/argosy/cluster/node/kubelet/podspec"
)

// projected is a file of a volume made from objects of the API.
type projected struct {
	data  []byte
	mode  fs.FileMode
	owner *int64 // nil: root of the pod
}

// isProjected says whether a volume is made from objects of the API. Pods only read those.
func isProjected(v corev1.Volume) bool {
	return v.ConfigMap != nil || v.Secret != nil || v.Projected != nil || v.DownwardAPI != nil
}

// project gathers the files of a volume made from objects of the API.
func (p *Pod) project(ctx context.Context, v corev1.Volume) (map[string]projected, error) {
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

func (p *Pod) projectSource(ctx context.Context, files map[string]projected, s corev1.VolumeProjection, mode *int32) error {
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
	return podspec.Unsupported("a projected source is of a kind that the embedded cluster does not have")
}

func (p *Pod) projectConfigMap(ctx context.Context, files map[string]projected, name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	data, err := p.Objects.ConfigMap(ctx, name, optional)
	if err != nil {
		return err
	}
	return choose(files, data, items, mode, podspec.IsTrue(optional), "configmap references non-existent config key: %s")
}

func (p *Pod) projectSecret(ctx context.Context, files map[string]projected, name string, items []corev1.KeyToPath, mode *int32, optional *bool) error {
	data, err := p.Objects.Secret(ctx, name, optional)
	if err != nil {
		return err
	}
	return choose(files, data, items, mode, podspec.IsTrue(optional), "references non-existent secret key: %s")
}

// projectToken adds a token. If the pod sets a user or a group for its files, only these can read it.
func (p *Pod) projectToken(ctx context.Context, files map[string]projected, t *corev1.ServiceAccountTokenProjection, mode *int32) error {
	token, err := p.Tokens.get(ctx, p.Obj, p.Held, t)
	if err != nil {
		return err
	}
	if err := addFile(files, t.Path, []byte(token), mode, nil); err != nil {
		return err
	}
	f := files[path.Clean(t.Path)]
	f.owner = p.onlyUser()
	if f.owner != nil || p.group() != nil {
		f.mode = 0o600
	}
	files[path.Clean(t.Path)] = f
	return nil
}

// onlyUser returns the user of all the pod's containers, or nil if they differ.
func (p *Pod) onlyUser() *int64 {
	if p.SingleID {
		return nil
	}
	var user *int64
	for _, list := range [][]corev1.Container{p.Obj.Spec.InitContainers, p.Obj.Spec.Containers} {
		for i := range list {
			own, _ := podspec.SecurityContexts(p.Obj, &list[i])
			if own.RunAsUser == nil || podspec.Program(list[i].Image) == "argoexec" || user != nil && *user != *own.RunAsUser {
				return nil
			}
			user = own.RunAsUser
		}
	}
	return user
}

// choose adds the keys in items to a volume, or all keys if there are no items.
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
			return podspec.Unusable(missingKey, it.Key)
		}
		if err := addFile(files, it.Path, b, mode, it.Mode); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pod) downward(files map[string]projected, items []corev1.DownwardAPIVolumeFile, mode *int32) error {
	for _, it := range items {
		var value string
		var err error
		switch {
		case it.FieldRef != nil:
			value, err = p.Fields.Field(it.FieldRef.FieldPath)
		case it.ResourceFieldRef != nil:
			value, err = p.Fields.Resource(nil, it.ResourceFieldRef)
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
		return podspec.Unsupported("path %q leaves the volume", name)
	}
	m := fs.FileMode(0o644)
	if chosen := cmp.Or(mode, defaultMode); chosen != nil {
		m = fs.FileMode(*chosen) & fs.ModePerm
	}
	files[clean] = projected{data: data, mode: m}
	return nil
}
