package messages

import (
	"fmt"
	"testing"
)

// benchJob returns a job of two processes without progress threads: the measured cost is that of the calls only.
func benchJob(b *testing.B) []*Engine {
	es := jobWithout(b, 2)
	b.ReportAllocs()
	b.ResetTimer()
	return es
}

// BenchmarkSendRecv measures a message from one process to another and its receive, by one thread: the instructions of
// both without the transfer.
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
