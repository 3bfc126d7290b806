# Spack's recipe of gompirma. In the root of the sources:
#
#     spack repo add packages
#     spack dev-build gompirma@0.1.0
#
# `spack install gompirma` needs an archive gompirma-VERSION.tar.gz in the working directory or in a mirror of Spack.
import os

from spack.package import *


class Gompirma(Package):
    """MPI library for one-sided communication, with the standard ABI of MPI 5.0."""

    manual_download = True
    url = "file://{0}/gompirma-0.1.0.tar.gz".format(os.getcwd())

    version("0.1.0")

    variant("fortran", default=True, description="Build the Fortran bindings")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("go@1.24:", type="build")
    # The library loads these at run time, if they are needed.
    depends_on("libfabric")
    depends_on("pmix")
    depends_on("ucx")

    requires("platform=linux", msg="gompirma supports only Linux")
    requires("target=x86_64:", "target=aarch64:", policy="one_of")

    def setup_build_environment(self, env):
        env.set("GOTOOLCHAIN", "local")
        env.set("GOMPIRMA_NO_APT", "1")
        if self.spec.satisfies("~fortran"):
            env.set("FC", "no-fortran-compiler")

    def install(self, spec, prefix):
        build = join_path(self.stage.path, "gompirma-build")
        Executable("./scripts/build.sh")(build)
        Executable("./scripts/install.sh")("install", build, prefix)

    def setup_run_environment(self, env):
        env.prepend_path("PATH", self.prefix.libexec.gompirma.bin)
        self.set_wrappers(env)
        for name in ("libfabric", "pmix", "ucx"):
            env.append_path("LD_LIBRARY_PATH", self.spec[name].prefix.lib)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)

    def set_wrappers(self, env):
        env.set("MPICC", self.prefix.bin.gompicc)
        env.set("MPICXX", self.prefix.bin.gompicxx)
        if self.spec.satisfies("+fortran"):
            for name in ("MPIFC", "MPIF90", "MPIF77"):
                env.set(name, self.prefix.bin.gompifort)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.gompicc
        self.spec.mpicxx = self.prefix.bin.gompicxx
        self.spec.mpifc = self.prefix.bin.gompifort
        self.spec.mpif77 = self.prefix.bin.gompifort

    @property
    def headers(self):
        return find_headers("mpi", root=self.prefix.include)

    @property
    def libs(self):
        names = ["libgompirma"]
        if "fortran" in self.spec.last_query.extra_parameters:
            names.insert(0, "libgompirma_fortran")
        return find_libraries(names, root=self.prefix.lib, recursive=False)
