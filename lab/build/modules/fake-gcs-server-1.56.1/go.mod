module lab/fake-gcs-server

go 1.26

require github.com/fsouza/fake-gcs-server v1.56.1
