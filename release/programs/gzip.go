// Compresses standard input. Go's implementation gives the same bytes on every processor, for one version of Go; zlib's do
// not, as it uses what each processor has.
package main

import (
	"compress/gzip"
	"io"
	"log"
	"os"
)

func main() {
	writer, err := gzip.NewWriterLevel(os.Stdout, gzip.DefaultCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := io.Copy(writer, os.Stdin); err != nil {
		log.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
}
