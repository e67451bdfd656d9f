// A registry of images on this machine's loopback interface, for tests of releases: `registry ADDRESS FOLDER`. It prints the
// address that it serves on, so that port 0 means a free one, and ends when its standard input does.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("registry ADDRESS FOLDER")
	}
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: registry.New(
			registry.Logger(log.New(io.Discard, "", 0)),
			registry.WithBlobHandler(registry.NewDiskBlobHandler(os.Args[2])),
			registry.WithReferrersSupport(true),
		),
	}
	log.Fatal(server.Serve(listener))
}
