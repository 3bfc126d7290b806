package main

import "C"

import "gompirma/core/coll"

// Neighborhood collectives (MPI-5.0 8.6): blocking, nonblocking and persistent.

//export gompi_neighbor_allgather_c
func gompi_neighbor_allgather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgather", kind: coll.KindNeighborAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.run()
}

//export gompi_ineighbor_allgather_c
func gompi_ineighbor_allgather_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_allgather", kind: coll.KindNeighborAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.start(request)
}

//export gompi_neighbor_allgather_init_c
func gompi_neighbor_allgather_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgather_init", kind: coll.KindNeighborAllgather, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.init(info, request)
}

//export gompi_neighbor_alltoall_c
func gompi_neighbor_alltoall_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoall", kind: coll.KindNeighborAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.run()
}

//export gompi_ineighbor_alltoall_c
func gompi_ineighbor_alltoall_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_alltoall", kind: coll.KindNeighborAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.start(request)
}

//export gompi_neighbor_alltoall_init_c
func gompi_neighbor_alltoall_init_c(sendbuf uintptr, sendcount int64, sendtype, recvbuf uintptr, recvcount int64,
	recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoall_init", kind: coll.KindNeighborAlltoall, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, count: recvcount,
			typ: recvtype}}
	return a.init(info, request)
}

//export gompi_neighbor_allgatherv
func gompi_neighbor_allgatherv(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgatherv", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.run()
}

//export gompi_ineighbor_allgatherv
func gompi_ineighbor_allgatherv(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_allgatherv", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.start(request)
}

//export gompi_neighbor_allgatherv_init
func gompi_neighbor_allgatherv_init(sendbuf uintptr, sendcount int32,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgatherv_init", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: int64(sendcount), typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: displs, typ: recvtype}}
	return a.init(info, request)
}

//export gompi_neighbor_allgatherv_c
func gompi_neighbor_allgatherv_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgatherv", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.run()
}

//export gompi_ineighbor_allgatherv_c
func gompi_ineighbor_allgatherv_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_allgatherv", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.start(request)
}

//export gompi_neighbor_allgatherv_init_c
func gompi_neighbor_allgatherv_init_c(sendbuf uintptr, sendcount int64,
	sendtype, recvbuf, recvcounts, displs, recvtype, comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_allgatherv_init", kind: coll.KindNeighborAllgatherv, comm: comm,
		send: side{buf: sendbuf, count: sendcount, typ: sendtype}, recv: side{buf: recvbuf, counts: recvcounts,
			displs: displs, typ: recvtype}, wide: true}
	return a.init(info, request)
}

//export gompi_neighbor_alltoallv
func gompi_neighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallv", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.run()
}

//export gompi_ineighbor_alltoallv
func gompi_ineighbor_alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_alltoallv", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.start(request)
}

//export gompi_neighbor_alltoallv_init
func gompi_neighbor_alltoallv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallv_init", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}}
	return a.init(info, request)
}

//export gompi_neighbor_alltoallv_c
func gompi_neighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallv", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.run()
}

//export gompi_ineighbor_alltoallv_c
func gompi_ineighbor_alltoallv_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_alltoallv", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.start(request)
}

//export gompi_neighbor_alltoallv_init_c
func gompi_neighbor_alltoallv_init_c(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
	comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallv_init", kind: coll.KindNeighborAlltoallv, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, typ: sendtype},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, typ: recvtype}, wide: true}
	return a.init(info, request)
}

//export gompi_neighbor_alltoallw
func gompi_neighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallw", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.run()
}

//export gompi_ineighbor_alltoallw
func gompi_ineighbor_alltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_alltoallw", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.start(request)
}

//export gompi_neighbor_alltoallw_init
func gompi_neighbor_alltoallw_init(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallw_init", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}}
	return a.init(info, request)
}

//export gompi_neighbor_alltoallw_c
func gompi_neighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallw", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.run()
}

//export gompi_ineighbor_alltoallw_c
func gompi_ineighbor_alltoallw_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm,
	request uintptr) int32 {
	a := collective{function: "MPI_Ineighbor_alltoallw", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.start(request)
}

//export gompi_neighbor_alltoallw_init_c
func gompi_neighbor_alltoallw_init_c(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes,
	comm, info, request uintptr) int32 {
	a := collective{function: "MPI_Neighbor_alltoallw_init", kind: coll.KindNeighborAlltoallw, comm: comm,
		send: side{buf: sendbuf, counts: sendcounts, displs: sdispls, types: sendtypes},
		recv: side{buf: recvbuf, counts: recvcounts, displs: rdispls, types: recvtypes}, wide: true}
	return a.init(info, request)
}
