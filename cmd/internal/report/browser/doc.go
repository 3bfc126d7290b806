// Package browser tests the page of gompirun report in a headless Chromium. `make test-browser` runs the tests. They
// are skipped if there is no Chromium. GOMPIRMA_SCREENSHOTS names a directory for their screenshots.
package browser
