package messages

import (
	"fmt"
	"testing"
)

// benchJob returns two simulated processes without progress threads, so that only the calls are measured.
func benchJob(b *testing.B) []*Engine {
	es := jobWithout(b, 2)
	b.ReportAllocs()
	b.ResetTimer()
	return es
}

// BenchmarkSendRecv measures the send and the receive of a message between two simulated processes. One thread makes
// both calls, so that the result does not include the latency between two threads.
func BenchmarkSendRecv(b *testing.B) {
	for _, n := range []int{0, 8, 64, 1024, 4096, 65536} {
		for _, late := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d late %v", n, late), func(b *testing.B) {
				es := benchJob(b)
				buf, got := Bytes(make([]byte, n)), Bytes(make([]byte, n))
				for i := 0; i < b.N; i++ {
					var r *Request
					if !late {
						r, _ = es[1].Irecv(es[1].World, 0, got, 0, 0)
					}
					s, err := es[0].Isend(es[0].World, 0, buf, 1, 0, Standard)
					if late {
						err = es[1].Recv(es[1].World, 0, got, 0, 0, nil)
					} else {
						err = es[1].Wait(r, nil)
					}
					if err != nil {
						b.Fatal(err)
					}
					if err := es[0].Wait(s, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
