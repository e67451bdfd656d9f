// Prometheus' own discovery of Kubernetes, for a Prometheus that was built without it, such as Debian's: keeps what it finds
// in a file for file_sd_configs. Arguments: a file with one entry of kubernetes_sd_configs, and the file to write.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery"
	"github.com/prometheus/prometheus/discovery/kubernetes"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"go.yaml.in/yaml/v2"
)

// A file has no labels for single targets, so each becomes a group of its own.
type found struct {
	Targets []model.LabelValue `json:"targets"`
	Labels  model.LabelSet     `json:"labels"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: discovery CONFIGURATION TARGETS")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var config kubernetes.SDConfig
	if err := yaml.UnmarshalStrict(text, &config); err != nil {
		return err
	}
	registry := prometheus.NewRegistry()
	metrics := config.NewDiscovererMetrics(registry, discovery.NewRefreshMetrics(registry))
	if err := metrics.Register(); err != nil {
		return err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	discoverer, err := config.NewDiscoverer(discovery.DiscovererOptions{Logger: logger, Metrics: metrics})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	updates := make(chan []*targetgroup.Group)
	go discoverer.Run(ctx, updates)
	known := map[string]*targetgroup.Group{}
	for {
		select {
		case <-ctx.Done():
			return nil
		case groups := <-updates:
			for _, group := range groups {
				if group != nil {
					known[group.Source] = group
				}
			}
			if err := write(args[1], known); err != nil {
				return err
			}
		}
	}
}

func write(file string, known map[string]*targetgroup.Group) error {
	all := []found{}
	for _, group := range known {
		for _, target := range group.Targets {
			labels := group.Labels.Merge(target)
			delete(labels, model.AddressLabel)
			all = append(all, found{Targets: []model.LabelValue{target[model.AddressLabel]}, Labels: labels})
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	// Whole or not at all: Prometheus reads it at any time.
	if err := os.WriteFile(file+".next", text, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".next", file)
}
