module release/gzip

go 1.26
