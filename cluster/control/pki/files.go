package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"github.com/argosy-ml/argosy/cluster/host/home"
)

func readPair(dir, name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	der, err := readPEM(File(dir, name, "crt"))
	if err != nil {
		return nil, nil, err
	}
	crt, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, err
	}
	key, err := readKey(File(dir, name, "key"))
	if err != nil {
		return nil, nil, err
	}
	if pub, ok := crt.PublicKey.(*ecdsa.PublicKey); !ok || !pub.Equal(key.Public()) {
		return nil, nil, errors.New("the key does not belong to the certificate")
	}
	return crt, key, nil
}

// writePair writes the key first: a certificate without its key would look like a pair that was tampered with.
func writePair(dir, name string, tmpl, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, tmpl, parent, key.Public(), signer)
	if err != nil {
		return err
	}
	if err := writeKey(File(dir, name, "key"), key); err != nil {
		return err
	}
	return writePEM(File(dir, name, "crt"), "CERTIFICATE", der)
}

func ensureServiceAccountKey(dir string) error {
	key, err := readKey(File(dir, "sa", "key"))
	if err != nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return err
		}
		if err := writeKey(File(dir, "sa", "key"), key); err != nil {
			return err
		}
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return writePEM(File(dir, "sa", "pub"), "PUBLIC KEY", der)
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	return x509.ParseECPrivateKey(der)
}

func writeKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(path, "EC PRIVATE KEY", der)
}

func readPEM(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block", path)
	}
	return block.Bytes, nil
}

func writePEM(path, kind string, der []byte) error {
	return home.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}
