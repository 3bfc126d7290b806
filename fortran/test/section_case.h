!One case of sections.F90 : A is an array, SECTION its section,
	NAME a text.call fill() n = size(A(SECTION)) flat = reshape(A(SECTION), [n]) call
	from_section(A(SECTION), n, flat, NAME)
    call fill()
    call to_section(A(SECTION), n, NAME)
    got = reshape(A, [size(A)])
    call fill()
    A(SECTION) = reshape([(5000 + i, i = 1, n)], shape(A(SECTION)))
    want = reshape(A, [size(A)])
    call expect(got, want, 'get into ' // NAME)
#undef SECTION
#undef NAME
