// Package image keeps OCI images on this machine: it pulls them from
// registries, loads them from archives, and unpacks their layers for containers
// to be made of. What is kept is found by digest; equal layers of several
// images are kept once.
//
// Two kinds of processes work on a store at the same time: the kubelet, inside
// the sandbox's user namespace, and argosy-cluster's `image` commands, outside.
// Layers are unpacked inside only, since the files' owners exist only there;
// outside, a layer stays the archive that it came as until a pod needs it.
//
// Everything that comes from a registry or an archive is hostile until its
// digest is checked, and its contents after that: see Unpack.
package image
