package main

import "C"

import "gompirma/core/coll"

// Collectives whose counts are arrays: of int and, in the _c forms, of MPI_Count with displacements of MPI_Aint.

//export gompi_gatherv
func gompi_gatherv(sendbuf uintptr, sendcount int32, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Gatherv", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}, root: root}
	return a.run()
}

//export gompi_igatherv
func gompi_igatherv(sendbuf uintptr, sendcount int32, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Igatherv", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}, root: root}
	return a.start(request)
}

//export gompi_gatherv_init
func gompi_gatherv_init(sendbuf uintptr, sendcount int32, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Gatherv_init", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}, root: root}
	return a.init(info, request)
}

//export gompi_gatherv_c
func gompi_gatherv_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Gatherv", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, root: root, wide: true}
	return a.run()
}

//export gompi_igatherv_c
func gompi_igatherv_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Igatherv", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, root: root, wide: true}
	return a.start(request)
}

//export gompi_gatherv_init_c
func gompi_gatherv_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf, recvcounts, displs, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Gatherv_init", kind: coll.KindGatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, root: root, wide: true}
	return a.init(info, request)
}

//export gompi_scatterv
func gompi_scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int32, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Scatterv", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: int64(recvcount), typ: recvtype}, root: root}
	return a.run()
}

//export gompi_iscatterv
func gompi_iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int32, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iscatterv", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: int64(recvcount), typ: recvtype}, root: root}
	return a.start(request)
}

//export gompi_scatterv_init
func gompi_scatterv_init(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int32, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Scatterv_init", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: int64(recvcount), typ: recvtype}, root: root}
	return a.init(info, request)
}

//export gompi_scatterv_c
func gompi_scatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm uintptr) int32 {
	a := collective{function: "MPI_Scatterv", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: recvcount, typ: recvtype}, root: root, wide: true}
	return a.run()
}

//export gompi_iscatterv_c
func gompi_iscatterv_c(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iscatterv", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: recvcount, typ: recvtype}, root: root, wide: true}
	return a.start(request)
}

//export gompi_scatterv_init_c
func gompi_scatterv_init_c(sendbuf, sendcounts, displs, sendtype, recvbuf uintptr, recvcount int64, recvtype uintptr,
	root int32, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Scatterv_init", kind: coll.KindScatterv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: displs, typ: sendtype},
		recv: side{buf: recvbuf, count: recvcount, typ: recvtype}, root: root, wide: true}
	return a.init(info, request)
}

//export gompi_allgatherv
func gompi_allgatherv(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Allgatherv", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.run()
}

//export gompi_iallgatherv
func gompi_iallgatherv(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iallgatherv", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.start(request)
}

//export gompi_allgatherv_init
func gompi_allgatherv_init(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Allgatherv_init", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.init(info, request)
}

//export gompi_allgatherv_c
func gompi_allgatherv_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Allgatherv", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.run()
}

//export gompi_iallgatherv_c
func gompi_iallgatherv_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Iallgatherv", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.start(request)
}

//export gompi_allgatherv_init_c
func gompi_allgatherv_init_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Allgatherv_init", kind: coll.KindAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.init(info, request)
}

//export gompi_alltoallv
func gompi_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm uintptr) int32 {
	a := collective{function: "MPI_Alltoallv", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.run()
}

//export gompi_ialltoallv
func gompi_ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ialltoallv", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.start(request)
}

//export gompi_alltoallv_init
func gompi_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
	request uintptr) int32 {
	a := collective{function: "MPI_Alltoallv_init", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.init(info, request)
}

//export gompi_alltoallv_c
func gompi_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm uintptr) int32 {
	a := collective{function: "MPI_Alltoallv", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.run()
}

//export gompi_ialltoallv_c
func gompi_ialltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ialltoallv", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.start(request)
}

//export gompi_alltoallv_init_c
func gompi_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm, info,
	request uintptr) int32 {
	a := collective{function: "MPI_Alltoallv_init", kind: coll.KindAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.init(info, request)
}

//export gompi_alltoallw
func gompi_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm uintptr) int32 {
	a := collective{function: "MPI_Alltoallw", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.run()
}

//export gompi_ialltoallw
func gompi_ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ialltoallw", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.start(request)
}

//export gompi_alltoallw_init
func gompi_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm, info,
	request uintptr) int32 {
	a := collective{function: "MPI_Alltoallw_init", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.init(info, request)
}

//export gompi_alltoallw_c
func gompi_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm uintptr) int32 {
	a := collective{function: "MPI_Alltoallw", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.run()
}

//export gompi_ialltoallw_c
func gompi_ialltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ialltoallw", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.start(request)
}

//export gompi_alltoallw_init_c
func gompi_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	info, request uintptr) int32 {
	a := collective{function: "MPI_Alltoallw_init", kind: coll.KindAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.init(info, request)
}

//export gompi_reduce_scatter
func gompi_reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op}
	return a.run()
}

//export gompi_ireduce_scatter
func gompi_ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ireduce_scatter", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op}
	return a.start(request)
}

//export gompi_reduce_scatter_init
func gompi_reduce_scatter_init(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter_init", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op}
	return a.init(info, request)
}

//export gompi_reduce_scatter_c
func gompi_reduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op,
		wide: true}
	return a.run()
}

//export gompi_ireduce_scatter_c
func gompi_ireduce_scatter_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ireduce_scatter", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op,
		wide: true}
	return a.start(request)
}

//export gompi_reduce_scatter_init_c
func gompi_reduce_scatter_init_c(sendbuf, recvbuf, recvcounts, datatype, op, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Reduce_scatter_init", kind: coll.KindReduceScatter, comm: comm,
		send: side{buf: sendbuf}, recv: side{buf: recvbuf, counts: recvcounts, typ: datatype}, op: op,
		wide: true}
	return a.init(info, request)
}
