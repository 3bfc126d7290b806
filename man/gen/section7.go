package main
func environmentPage(root, date string, files map[string][]byte) error { return nil }
func toolFiles(root, tools, date string, files map[string][]byte, links map[string]string) error { return nil }
