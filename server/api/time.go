package api

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// wireTime is a time as v1beta1 shows it: in whole seconds, and 1970-01-01T00:00:00Z for one that is not set.
func wireTime(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return &timestamppb.Timestamp{}
	}
	return &timestamppb.Timestamp{Seconds: t.Unix()}
}

// ownTime is a time as argosy.v1 shows it: exact, and absent when it is not set.
func ownTime(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
