package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EnvURL is the environment variable that names the server.
const EnvURL = "ARGOSY_URL"

// EnvPassword is the environment variable with the password of the server, where it asks for one.
const EnvPassword = "ARGOSY_PASSWORD"

// Config is the content of the configuration file, argosy/config.json below $XDG_CONFIG_HOME (default ~/.config).
type Config struct {
	// URL of the server; empty means DefaultURL.
	URL string `json:"url,omitempty"`
}

// ConfigFile is the path of the configuration file; it need not exist.
func ConfigFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "argosy", "config.json"), nil
}

// LoadConfig reads the configuration file; a file that does not exist is an empty Config.
func LoadConfig() (Config, error) {
	_, c, err := loadConfig()
	return c, err
}

func loadConfig() (file string, c Config, err error) {
	file, err = ConfigFile()
	if err != nil {
		return "", c, nil //nolint:nilerr // no home folder, hence no file to read
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, c, nil
	}
	if err != nil {
		return file, c, fmt.Errorf("configuration: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return file, c, fmt.Errorf(`configuration %s: %w (want {"url": "http://HOST:PORT"})`, file, err)
	}
	return file, c, nil
}

// FromEnv makes a client of the server named by $ARGOSY_URL, else by the configuration file, else of DefaultURL,
// with the password in $ARGOSY_PASSWORD.
func FromEnv(opts ...Option) (*Client, error) {
	where, at := "$"+EnvURL, os.Getenv(EnvURL)
	if at == "" {
		file, c, err := loadConfig()
		if err != nil {
			return nil, err
		}
		where, at = file, firstOf(c.URL, DefaultURL)
	}
	c, err := New(at, append([]Option{WithPassword(os.Getenv(EnvPassword))}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	return c, nil
}
