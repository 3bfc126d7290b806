// Package browser tests the page of gompirun report in a headless Chromium. `make test-browser` runs it; without a
// Chromium it is skipped. GOMPIRMA_SCREENSHOTS names a directory for its screenshots.
package browser
