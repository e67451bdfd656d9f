// A test image's only program, so that tests need no shell: it serves and fetches HTTP, looks names up, reads and
// writes files, and sleeps until it is told to end.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

const usage = `probe serve [ADDRESS [DIRECTORY]]   answer "HOSTNAME CALLER" to every request; files of DIRECTORY under /files/
probe get URL                       print the body; fails unless the status is 2xx
probe lookup NAME                   print the addresses of a name, one a line
probe write FILE TEXT               write a file and flush it to disk
probe read FILE                     print a file
probe sleep [DURATION]              wait, as in 90s; without a duration until SIGTERM`

const patience = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "probe:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	switch {
	case command == "serve" && len(args) <= 2:
		return serve(ctx, append(args, "", "")[:2])
	case command == "get" && len(args) == 1:
		return get(ctx, args[0])
	case command == "lookup" && len(args) == 1:
		return lookup(ctx, args[0])
	case command == "write" && len(args) == 2:
		return write(args[0], args[1])
	case command == "read" && len(args) == 1:
		return read(args[0])
	case command == "sleep" && len(args) <= 1:
		return sleep(ctx, strings.Join(args, ""))
	}
	fmt.Fprintln(os.Stderr, usage)
	os.Exit(2)
	return nil
}

func serve(ctx context.Context, args []string) error {
	address, directory := args[0], args[1]
	if address == "" {
		address = ":8080"
	}
	hostname, err := os.Hostname()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		caller, _, _ := net.SplitHostPort(r.RemoteAddr)
		fmt.Fprintln(w, hostname, caller)
	})
	if directory != "" {
		mux.Handle("/files/", http.StripPrefix("/files/", http.FileServer(http.Dir(directory))))
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	fmt.Println("listening on", listener.Addr())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	go func() {
		<-ctx.Done()
		server.Close()
	}()
	if err := server.Serve(listener); err != http.ErrServerClosed {
		return err
	}
	return nil
}

func get(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s answered %s", url, response.Status)
	}
	return nil
}

func lookup(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, name)
	if err != nil {
		return err
	}
	fmt.Println(strings.Join(addresses, "\n"))
	return nil
}

// Flushed, because tests ask what survives when a machine's power goes.
func write(path, text string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		return err
	}
	return file.Sync()
}

func read(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(os.Stdout, file)
	return err
}

func sleep(ctx context.Context, text string) error {
	if text == "" {
		<-ctx.Done()
		return nil
	}
	duration, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
	return nil
}
