package main

import "C"

import "gompirma/core/coll"

// Collectives whose counts are numbers (MPI-5.0 6.4 to 6.11): blocking, nonblocking (6.12) and persistent (6.13).

//export gompi_bcast_c
func gompi_bcast_c(buffer uintptr, count int64, datatype uintptr, root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Bcast", kind: coll.KindBcast, comm: comm,
		recv: side{buf: buffer, count: count, typ: datatype}, root: root}
	return a.run()
}

//export gompi_ibcast_c
func gompi_ibcast_c(buffer uintptr, count int64, datatype uintptr, root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ibcast", kind: coll.KindBcast, comm: comm,
		recv: side{buf: buffer, count: count, typ: datatype}, root: root}
	return a.start(request)
}

//export gompi_bcast_init_c
func gompi_bcast_init_c(buffer uintptr, count int64, datatype uintptr, root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Bcast_init", kind: coll.KindBcast, comm: comm,
		recv: side{buf: buffer, count: count, typ: datatype}, root: root}
	return a.init(info, request)
}

//export gompi_reduce_c
func gompi_reduce_c(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Reduce", kind: coll.KindReduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op, root: root}
	return a.run()
}

//export gompi_ireduce_c
func gompi_ireduce_c(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32,
	comm, request uintptr) int32 {
	a := collective{function: "MPI_Ireduce", kind: coll.KindReduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op, root: root}
	return a.start(request)
}

//export gompi_reduce_init_c
func gompi_reduce_init_c(sendbuf, recvbuf uintptr, count int64, datatype, op uintptr, root int32,
	comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Reduce_init", kind: coll.KindReduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op, root: root}
	return a.init(info, request)
}

//export gompi_allreduce_c
func gompi_allreduce_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Allreduce", kind: coll.KindAllreduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.run()
}

//export gompi_iallreduce_c
func gompi_iallreduce_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iallreduce", kind: coll.KindAllreduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.start(request)
}

//export gompi_allreduce_init_c
func gompi_allreduce_init_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Allreduce_init", kind: coll.KindAllreduce, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.init(info, request)
}

//export gompi_scan_c
func gompi_scan_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Scan", kind: coll.KindScan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.run()
}

//export gompi_iscan_c
func gompi_iscan_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iscan", kind: coll.KindScan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.start(request)
}

//export gompi_scan_init_c
func gompi_scan_init_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Scan_init", kind: coll.KindScan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.init(info, request)
}

//export gompi_exscan_c
func gompi_exscan_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Exscan", kind: coll.KindExscan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.run()
}

//export gompi_iexscan_c
func gompi_iexscan_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iexscan", kind: coll.KindExscan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.start(request)
}

//export gompi_exscan_init_c
func gompi_exscan_init_c(sendbuf, recvbuf uintptr, count int64, datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Exscan_init", kind: coll.KindExscan, comm: comm, send: side{buf: sendbuf},
		recv: side{buf: recvbuf, count: count, typ: datatype}, op: op}
	return a.init(info, request)
}

//export gompi_reduce_scatter_block_c
func gompi_reduce_scatter_block_c(sendbuf, recvbuf uintptr, recvcount int64, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter_block", kind: coll.KindReduceScatterBlock, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, count: recvcount, typ: datatype}, op: op}
	return a.run()
}

//export gompi_ireduce_scatter_block_c
func gompi_ireduce_scatter_block_c(sendbuf, recvbuf uintptr, recvcount int64,
	datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ireduce_scatter_block", kind: coll.KindReduceScatterBlock, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, count: recvcount, typ: datatype}, op: op}
	return a.start(request)
}

//export gompi_reduce_scatter_block_init_c
func gompi_reduce_scatter_block_init_c(sendbuf, recvbuf uintptr, recvcount int64,
	datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter_block_init", kind: coll.KindReduceScatterBlock, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, count: recvcount, typ: datatype}, op: op}
	return a.init(info, request)
}

//export gompi_gather_c
func gompi_gather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Gather", kind: coll.KindGather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.run()
}

//export gompi_igather_c
func gompi_igather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Igather", kind: coll.KindGather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.start(request)
}

//export gompi_gather_init_c
func gompi_gather_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Gather_init", kind: coll.KindGather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.init(info, request)
}

//export gompi_scatter_c
func gompi_scatter_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Scatter", kind: coll.KindScatter, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.run()
}

//export gompi_iscatter_c
func gompi_iscatter_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iscatter", kind: coll.KindScatter, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.start(request)
}

//export gompi_scatter_init_c
func gompi_scatter_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype uintptr, root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Scatter_init", kind: coll.KindScatter, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}, root: root}
	return a.init(info, request)
}

//export gompi_allgather_c
func gompi_allgather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Allgather", kind: coll.KindAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.run()
}

//export gompi_iallgather_c
func gompi_iallgather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iallgather", kind: coll.KindAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.start(request)
}

//export gompi_allgather_init_c
func gompi_allgather_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Allgather_init", kind: coll.KindAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.init(info, request)
}

//export gompi_alltoall_c
func gompi_alltoall_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Alltoall", kind: coll.KindAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.run()
}

//export gompi_ialltoall_c
func gompi_ialltoall_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ialltoall", kind: coll.KindAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.start(request)
}

//export gompi_alltoall_init_c
func gompi_alltoall_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Alltoall_init", kind: coll.KindAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.init(info, request)
}
