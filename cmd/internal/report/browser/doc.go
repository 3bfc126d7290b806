// Package browser is the test of gompirun report's page in a real Chromium, without a window. `make test-browser` runs
// it; where there is no Chromium it is left out. GOMPIRMA_SCREENSHOTS names a folder in which its pictures are kept.
package browser
