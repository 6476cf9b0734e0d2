package capacity

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

const (
	// localProvisioner makes the volumes of the embedded cluster: folders of its one machine, whose disk all its nodes share.
	localProvisioner = "argosy.dev/local"
	defaultClass     = "storageclass.kubernetes.io/is-default-class"
)

// claim checks that a claim's storage class exists, and that its disk is large enough if the size is known. A volume that an
// administrator created for the class satisfies a claim even if the class does not exist.
func (c *Cluster) claim(claim *Claim) *Shortage {
	class := c.classOf(claim)
	if class == "" {
		return nil
	}
	size := claim.Spec.Resources.Requests[corev1.ResourceStorage]
	made := false
	for i := range c.Volumes {
		v := &c.Volumes[i]
		ours := v.Spec.StorageClassName == class
		made = made || ours
		if has := v.Spec.Capacity[corev1.ResourceStorage]; ours && v.Status.Phase == corev1.VolumeAvailable && has.Cmp(size) >= 0 {
			return nil
		}
	}
	i := slices.IndexFunc(c.Classes, func(s storagev1.StorageClass) bool { return s.Name == class })
	switch {
	case i < 0 && made:
		return nil
	case i < 0:
		has := "this cluster has no storage class"
		if names := c.classNames(); len(names) > 0 {
			has = "this cluster has " + list(names, "and")
		}
		return &Shortage{Asks: "for a volume of the storage class " + class + " for " + claim.Name, Has: has, Change: "name another class, or create it"}
	case c.Classes[i].Provisioner != localProvisioner:
		return nil
	}
	disk := 0.0
	for i := range c.Nodes {
		disk += offers(&c.Nodes[i], corev1.ResourceEphemeralStorage)
	}
	if want := amountOf(corev1.ResourceStorage, size); disk > 0 && want > disk {
		return &Shortage{
			Asks: "for a volume of " + number(corev1.ResourceStorage, want, true) + " for " + claim.Name,
			Has:  "the disk of this cluster has " + number(corev1.ResourceStorage, disk, false), Change: "ask for a smaller volume",
		}
	}
	return nil
}

// classOf is the storage class that is to make a claim's volume; empty where that is not known, or none is.
func (c *Cluster) classOf(claim *Claim) string {
	if c.Classes == nil {
		return ""
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	i := slices.IndexFunc(c.Classes, func(s storagev1.StorageClass) bool { return s.Annotations[defaultClass] == "true" })
	if i < 0 {
		return ""
	}
	return c.Classes[i].Name
}

func (c *Cluster) classNames() (names []string) {
	for i := range c.Classes {
		names = append(names, c.Classes[i].Name)
	}
	slices.Sort(names)
	return names
}
