// Package gitsync fetches the code of a job: one clone of a branch, tag or
// commit over https, http, ssh or from a local path, without needing git itself.
package gitsync
