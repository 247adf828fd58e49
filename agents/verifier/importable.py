"""The packages and modules that code and tests may import beside the standard library."""

from __future__ import annotations

from dataclasses import dataclass

from ..records import Package, UserModule


@dataclass(frozen=True, slots=True)
class Importable:
    """Third-party `packages`, including their dependencies, and the user's own `modules`. If `packages` is None
    the code may import whatever is installed, and the tests no third-party package."""

    packages: tuple[Package, ...] | None = None
    modules: tuple[UserModule, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """Top-level names that tests may import."""
        packages = {name for package in self.packages or () for name in (*package.imports, *package.needs)}
        return frozenset(packages | {module.name for module in self.modules})

    @property
    def preloaded(self) -> tuple[str, ...]:
        """Return the names that a warm worker imports: those of the packages named."""
        names = {name for package in self.packages or () for name in package.imports}
        return tuple(sorted(name for name in names if not name.startswith("_")))

    @property
    def files(self) -> dict[str, bytes]:
        """Return the user's modules by their paths in a job."""
        return {
            path: text.encode("utf-8", "surrogatepass")
            for module in self.modules
            for path, text in module.files.items()
        }

    @property
    def rule(self) -> dict[str, object]:
        """Return the import rule for the sandbox as JSON; `modules` are dotted names, submodules included."""
        paths = [path for module in self.modules for path in module.files]
        names = [path.removesuffix(".py").replace("/", ".").removesuffix(".__init__") for path in paths]
        modules = sorted(name for name in names if not name.endswith("__main__"))
        allowed = None if self.packages is None else sorted(self.names)
        named = [package.name for package in self.packages or ()] + [module.name for module in self.modules]
        return {"allowed": allowed, "named": named, "modules": modules}


ANYTHING = Importable()
