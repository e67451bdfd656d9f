// How clients reach the cluster: endpoints, certificates and a login. A password is never an argument, which every process of
// the machine can read.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const passwordVariable = "ROBUSTNESS_PASSWORD"

type connection struct {
	endpoints    string
	ca           string
	cert         string
	key          string
	user         string
	passwordFile string
}

func (c *connection) flags(set *flag.FlagSet) {
	set.StringVar(&c.endpoints, "endpoints", "", "client URLs, separated by commas")
	set.StringVar(&c.ca, "ca", "", "file with the CA of the members")
	set.StringVar(&c.cert, "cert", "", "file with the certificate that clients present")
	set.StringVar(&c.key, "key", "", "file with its key")
	set.StringVar(&c.user, "user", "", "log in as this user; the password comes from --password-file or $"+passwordVariable)
	set.StringVar(&c.passwordFile, "password-file", "", "file with the password")
}

func (c *connection) urls() []string {
	return strings.FieldsFunc(c.endpoints, func(r rune) bool { return r == ',' })
}

func (c *connection) password() (string, error) {
	if c.passwordFile != "" {
		text, err := os.ReadFile(c.passwordFile)
		return strings.TrimRight(string(text), "\n"), err
	}
	password := os.Getenv(passwordVariable)
	if password == "" {
		return "", fmt.Errorf("--user needs --password-file or $%s", passwordVariable)
	}
	return password, nil
}

// Reads the files at each call, so that a client that is made after a CA was rotated trusts the new one.
func (c *connection) tls() (*tls.Config, error) {
	if c.ca == "" && c.cert == "" {
		return nil, nil
	}
	info := transport.TLSInfo{TrustedCAFile: c.ca, CertFile: c.cert, KeyFile: c.key}
	return info.ClientConfig()
}

// A client with a login asks for its token at once, so it can only be made while a member of `endpoints` serves.
func (c *connection) dial(ctx context.Context, endpoints []string) (*clientv3.Client, error) {
	secure, err := c.tls()
	if err != nil {
		return nil, err
	}
	config := clientv3.Config{
		Endpoints:   endpoints,
		TLS:         secure,
		Logger:      zap.NewNop(),
		DialTimeout: 5 * time.Second,
		// Servers refuse pings more often than every 5 s, and gRPC sends none more often than every 10 s.
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 2 * time.Second,
	}
	if c.user != "" {
		config.Username = c.user
		if config.Password, err = c.password(); err != nil {
			return nil, err
		}
	}
	for {
		client, err := clientv3.New(config)
		if err == nil {
			return client, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}
