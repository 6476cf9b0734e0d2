package logs_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/argosy-ml/argosy/server/engine/enginetest"
	"github.com/argosy-ml/argosy/server/fault"
	"github.com/argosy-ml/argosy/server/logs"
)

func TestArchiveAndOpen(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"empty": "", "long": strings.Repeat("a line of a log\n", 1<<17)} {
		store := &enginetest.Objects{}
		key := logs.Key("run", "node")
		require.NoError(t, logs.Archive(t.Context(), store, key, iotest.OneByteReader(strings.NewReader(text[:min(len(text), 1<<16)]))), name)
		log, err := logs.Open(t.Context(), store, key)
		require.NoError(t, err, name)
		got, err := io.ReadAll(log)
		require.NoError(t, err, name)
		require.NoError(t, log.Close(), name)
		require.Equal(t, text[:min(len(text), 1<<16)], string(got), name)
	}
}

func TestALogThatBreaksOffIsNotKept(t *testing.T) {
	t.Parallel()
	store := &enginetest.Objects{}
	broken := errors.New("connection reset")
	err := logs.Archive(t.Context(), store, "k", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(broken)))
	require.ErrorIs(t, err, broken)
	require.Zero(t, store.Keys())
	_, err = logs.Open(t.Context(), store, "k")
	require.Equal(t, fault.NotFound, fault.KindOf(err))
}

func TestADamagedLogSaysSo(t *testing.T) {
	t.Parallel()
	store := &enginetest.Objects{}
	require.NoError(t, store.Put(t.Context(), "k", strings.NewReader("no gzip"), -1))
	_, err := logs.Open(t.Context(), store, "k")
	require.ErrorContains(t, err, "the archived log is damaged")
}
