// The constructors of datatypes (MPI-5.0 5.1.2 to 5.1.4 and 5.1.7). Their cost is proportional to the length of their
// lists, independent of counts. Errors are raised on MPI_COMM_SELF.
#include "datatype/recipe.h"
#include "datatype/z_calls.h"

// Constructs a type from one old type. MPI_Aint and MPI_Count both have 64 bits, so lists of either have is_64bit set.
#define FROM_ONE(name, ...)                                                                                        \
	gompi_type_construct(                                                                                      \
		&(struct gompi_recipe){.call = "MPI_Type_" name, .type_count = 1, .types = &oldtype, __VA_ARGS__}, \
		newtype)

int gompi_type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("contiguous", .combiner = MPI_COMBINER_CONTIGUOUS, .n = count);
}
GOMPI_ENTRY(MPI_Type_contiguous, gompi_type_contiguous);

int gompi_type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("vector", .combiner = MPI_COMBINER_VECTOR, .n = count, .a = blocklength, .b = stride);
}
GOMPI_ENTRY(MPI_Type_vector, gompi_type_vector);

int gompi_type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
			      MPI_Datatype *newtype) {
	return FROM_ONE("create_hvector", .combiner = MPI_COMBINER_HVECTOR, .n = count, .a = blocklength, .b = stride);
}
GOMPI_ENTRY(MPI_Type_create_hvector, gompi_type_create_hvector);

int gompi_type_indexed(int count, const int blocklengths[], const int displacements[], MPI_Datatype oldtype,
		       MPI_Datatype *newtype) {
	return FROM_ONE("indexed", .combiner = MPI_COMBINER_INDEXED, .n = count, .list = {blocklengths, displacements},
			.is_64bit = {false, false});
}
GOMPI_ENTRY(MPI_Type_indexed, gompi_type_indexed);

int gompi_type_create_hindexed(int count, const int blocklengths[], const MPI_Aint displacements[],
			       MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_hindexed", .combiner = MPI_COMBINER_HINDEXED, .n = count,
			.list = {blocklengths, displacements}, .is_64bit = {false, true});
}
GOMPI_ENTRY(MPI_Type_create_hindexed, gompi_type_create_hindexed);

int gompi_type_create_indexed_block(int count, int blocklength, const int displacements[], MPI_Datatype oldtype,
				    MPI_Datatype *newtype) {
	return FROM_ONE("create_indexed_block", .combiner = MPI_COMBINER_INDEXED_BLOCK, .n = count, .a = blocklength,
			.list = {NULL, displacements}, .is_64bit = {false, false});
}
GOMPI_ENTRY(MPI_Type_create_indexed_block, gompi_type_create_indexed_block);

int gompi_type_create_hindexed_block(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype,
				     MPI_Datatype *newtype) {
	return FROM_ONE("create_hindexed_block", .combiner = MPI_COMBINER_HINDEXED_BLOCK, .n = count, .a = blocklength,
			.list = {NULL, displacements}, .is_64bit = {false, true});
}
GOMPI_ENTRY(MPI_Type_create_hindexed_block, gompi_type_create_hindexed_block);

int gompi_type_create_struct(int count, const int blocklengths[], const MPI_Aint displacements[],
			     const MPI_Datatype types[], MPI_Datatype *newtype) {
	return gompi_type_construct(&(struct gompi_recipe){.call = "MPI_Type_create_struct",
							   .combiner = MPI_COMBINER_STRUCT,
							   .n = count,
							   .type_count = count,
							   .types = types,
							   .list = {blocklengths, displacements},
							   .is_64bit = {false, true}},
				    newtype);
}
GOMPI_ENTRY(MPI_Type_create_struct, gompi_type_create_struct);

int gompi_type_create_subarray(int ndims, const int sizes[], const int subsizes[], const int starts[], int order,
			       MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_subarray", .combiner = MPI_COMBINER_SUBARRAY, .n = ndims, .order = order,
			.list = {sizes, subsizes, starts}, .is_64bit = {false, false, false});
}
GOMPI_ENTRY(MPI_Type_create_subarray, gompi_type_create_subarray);

int gompi_type_create_darray(int size, int rank, int ndims, const int gsizes[], const int distribs[], const int dargs[],
			     const int psizes[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_darray", .combiner = MPI_COMBINER_DARRAY, .n = ndims, .a = size, .b = rank,
			.order = order, .list = {gsizes, distribs, dargs, psizes});
}
GOMPI_ENTRY(MPI_Type_create_darray, gompi_type_create_darray);

int gompi_type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype) {
	return FROM_ONE("create_resized", .combiner = MPI_COMBINER_RESIZED, .a = lb, .b = extent);
}
GOMPI_ENTRY(MPI_Type_create_resized, gompi_type_create_resized);

int gompi_type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("contiguous_c", .combiner = MPI_COMBINER_CONTIGUOUS, .n = count, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_contiguous_c, gompi_type_contiguous_c);

int gompi_type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
			MPI_Datatype *newtype) {
	return FROM_ONE("vector_c", .combiner = MPI_COMBINER_VECTOR, .n = count, .a = blocklength, .b = stride,
			.is_large = true);
}
GOMPI_ENTRY(MPI_Type_vector_c, gompi_type_vector_c);

int gompi_type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype,
				MPI_Datatype *newtype) {
	return FROM_ONE("create_hvector_c", .combiner = MPI_COMBINER_HVECTOR, .n = count, .a = blocklength, .b = stride,
			.is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_hvector_c, gompi_type_create_hvector_c);

int gompi_type_indexed_c(MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
			 MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("indexed_c", .combiner = MPI_COMBINER_INDEXED, .n = count,
			.list = {blocklengths, displacements}, .is_64bit = {true, true}, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_indexed_c, gompi_type_indexed_c);

int gompi_type_create_hindexed_c(MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
				 MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_hindexed_c", .combiner = MPI_COMBINER_HINDEXED, .n = count,
			.list = {blocklengths, displacements}, .is_64bit = {true, true}, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_hindexed_c, gompi_type_create_hindexed_c);

int gompi_type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
				      MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_indexed_block_c", .combiner = MPI_COMBINER_INDEXED_BLOCK, .n = count, .a = blocklength,
			.list = {NULL, displacements}, .is_64bit = {false, true}, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_indexed_block_c, gompi_type_create_indexed_block_c);

int gompi_type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength, const MPI_Count displacements[],
				       MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_hindexed_block_c", .combiner = MPI_COMBINER_HINDEXED_BLOCK, .n = count,
			.a = blocklength, .list = {NULL, displacements}, .is_64bit = {false, true}, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_hindexed_block_c, gompi_type_create_hindexed_block_c);

int gompi_type_create_struct_c(MPI_Count count, const MPI_Count blocklengths[], const MPI_Count displacements[],
			       const MPI_Datatype types[], MPI_Datatype *newtype) {
	return gompi_type_construct(&(struct gompi_recipe){.call = "MPI_Type_create_struct_c",
							   .combiner = MPI_COMBINER_STRUCT,
							   .n = count,
							   .type_count = count,
							   .types = types,
							   .list = {blocklengths, displacements},
							   .is_64bit = {true, true},
							   .is_large = true},
				    newtype);
}
GOMPI_ENTRY(MPI_Type_create_struct_c, gompi_type_create_struct_c);

int gompi_type_create_subarray_c(int ndims, const MPI_Count sizes[], const MPI_Count subsizes[],
				 const MPI_Count starts[], int order, MPI_Datatype oldtype, MPI_Datatype *newtype) {
	return FROM_ONE("create_subarray_c", .combiner = MPI_COMBINER_SUBARRAY, .n = ndims, .order = order,
			.list = {sizes, subsizes, starts}, .is_64bit = {true, true, true}, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_subarray_c, gompi_type_create_subarray_c);

int gompi_type_create_darray_c(int size, int rank, int ndims, const MPI_Count gsizes[], const int distribs[],
			       const int dargs[], const int psizes[], int order, MPI_Datatype oldtype,
			       MPI_Datatype *newtype) {
	return FROM_ONE("create_darray_c", .combiner = MPI_COMBINER_DARRAY, .n = ndims, .a = size, .b = rank,
			.order = order, .list = {gsizes, distribs, dargs, psizes}, .is_64bit = {true},
			.is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_darray_c, gompi_type_create_darray_c);

int gompi_type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype) {
	return FROM_ONE("create_resized_c", .combiner = MPI_COMBINER_RESIZED, .a = lb, .b = extent, .is_large = true);
}
GOMPI_ENTRY(MPI_Type_create_resized_c, gompi_type_create_resized_c);
