# SPDX-License-Identifier: Apache-2.0
"""Runs PTX kernels on the CPU, on arrays of this process, and counts what their warps do to memory.

    import warplens
    kernel = warplens.load("k.ptx")["axpy"]
    result = kernel(4, 256, n, 2.0, x, y)                          # grid, block, arguments; y is written
    print(result.global_read.requests, result.global_read.sectors)
    print(result)                                                  # the whole report

A call with sample=0.05 counts that share of the blocks and estimates the rest: result.sample says which blocks were
counted, and the counters have standard errors (result.global_read.errors).

Arrays are whatever has the buffer protocol (NumPy, array, bytearray, memoryview ...), NumPy's __array_interface__, or
PyTorch's CPU tensors. They are copied to device memory and, when they can be written, copied back. Needs nothing but
libwarplens.so: named by WARPLENS_LIBRARY, beside an installed module, or in the build folder of the source tree.
"""
import ctypes
import json as _json
import os
import pathlib
import struct
from typing import NamedTuple

__all__ = ["load", "loads", "Session", "Module", "Kernel", "Result", "Counters", "Line", "Finding", "Parameter", "Sample",
           "Occupancy", "Error", "scalar", "version"]


class Error(Exception):
    """What the library refuses: wrong PTX, wrong arguments, a launch that cannot begin."""


# ---- the C interface (include/warplens/warplens.h) ----

_API_VERSION = 2


class _Sized(ctypes.Structure):
    """A structure that begins with its size."""

    @classmethod
    def new(cls, **values):
        made = cls(**values)
        made.struct_bytes = ctypes.sizeof(cls)
        return made


class _Options(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("gpu", ctypes.c_char_p), ("executor", ctypes.c_char_p),
                ("workers", ctypes.c_uint32), ("level", ctypes.c_char_p), ("counting", ctypes.c_char_p)]


class _Parameter(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("name", ctypes.c_char_p), ("type", ctypes.c_char_p),
                ("bytes", ctypes.c_uint64), ("alignment", ctypes.c_uint64), ("is_structure", ctypes.c_int)]


class _Shape(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3),
                ("cluster", ctypes.c_uint32 * 3), ("shared_bytes", ctypes.c_uint32), ("uncounted", ctypes.c_uint32),
                ("timeout_seconds", ctypes.c_double), ("sample", ctypes.c_double), ("sample_seed", ctypes.c_uint64)]


class _Argument(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


_COUNTER_NAMES = ("requests", "lanes", "bytes_asked", "sectors", "ideal_sectors", "lines", "wavefronts",
                  "ideal_wavefronts", "repeated_sectors")


class _Counters(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t)] + [(n, ctypes.c_uint64) for n in _COUNTER_NAMES + ("estimate",)]


class _Errors(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t)] + [(n, ctypes.c_double) for n in _COUNTER_NAMES]


class _Sample(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("share", ctypes.c_double), ("seed", ctypes.c_uint64),
                ("counted_blocks", ctypes.c_uint64), ("blocks", ctypes.c_uint64), ("scaled", ctypes.c_int)]


class _Line(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("text", ctypes.c_char_p), ("instructions", ctypes.c_uint64), ("lanes", ctypes.c_uint64),
                ("global_", _Counters), ("shared", _Counters)]


class _Executed(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("instructions", ctypes.c_uint64), ("lanes", ctypes.c_uint64),
                ("instructions_error", ctypes.c_double), ("lanes_error", ctypes.c_double)]


class _Occupancy(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("theoretical", ctypes.c_double),
                ("blocks_per_sm", ctypes.c_uint32), ("warps_per_sm", ctypes.c_uint32),
                ("limited_by", ctypes.c_char_p)] + \
               [(n, ctypes.c_uint32) for n in ("limit_warps", "limit_blocks", "limit_registers", "limit_shared_memory",
                                               "limit_barriers", "registers_per_thread", "registers_estimated",
                                               "registers_per_block")] + \
               [("shared_bytes_per_block", ctypes.c_uint64), ("carveout_kib", ctypes.c_uint32),
                ("carveout_estimated", ctypes.c_uint32), ("waves", ctypes.c_double)]


class _Finding(_Sized):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("kind", ctypes.c_char_p), ("message", ctypes.c_char_p),
                ("file", ctypes.c_char_p), ("line", ctypes.c_uint32), ("column", ctypes.c_uint32),
                ("block", ctypes.c_uint32 * 3), ("thread", ctypes.c_uint32 * 3), ("address", ctypes.c_uint64)]


def _find_library():
    named = os.environ.get("WARPLENS_LIBRARY")
    if named:
        return named
    here = pathlib.Path(__file__).resolve().parent
    # <prefix>/share/warplens/python/warplens, or python/warplens in the source tree.
    for folder in (here.parents[3] / "lib", here.parents[1] / "build" / "release" / "lib",
                   here.parents[1] / "build" / "dev" / "lib"):
        if (folder / "libwarplens.so").exists():
            return str(folder / "libwarplens.so")
    return "libwarplens.so"


def _open_library():
    path = _find_library()
    try:
        lib = ctypes.CDLL(path)
    except OSError as why:
        raise ImportError(f"cannot load {path}: {why}; set WARPLENS_LIBRARY to libwarplens.so's path") from None
    pointer, size, status = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    u64, text = ctypes.c_uint64, ctypes.c_char_p

    def declare(result, **functions):
        for name, arguments in functions.items():
            function = getattr(lib, "warplens_" + name)
            function.restype, function.argtypes = result, arguments

    declare(ctypes.c_uint32, api_version=[])
    declare(text, version=[], error=[], session_gpu=[pointer], entry_name=[pointer], entry_demangled=[pointer],
            result_text=[pointer], result_json=[pointer])
    declare(None, session_destroy=[pointer], result_destroy=[pointer])
    declare(size, entry_count=[pointer], parameter_count=[pointer], result_line_count=[pointer],
            result_finding_count=[pointer])
    declare(pointer, entry_at=[pointer, size])
    declare(u64, result_instructions=[pointer])
    declare(status, session_create=[pointer, pointer], module_load=[pointer, text, size, text, pointer],
            entry_find=[pointer, text, pointer], parameter_get=[pointer, size, pointer],
            allocate=[pointer, u64, pointer], free=[pointer, u64], copy_in=[pointer, u64, pointer, u64],
            copy_out=[pointer, pointer, u64, u64], launch=[pointer, pointer, pointer, pointer, size, pointer],
            result_complete=[pointer], result_totals=[pointer, status, status, pointer],
            result_line=[pointer, size, pointer], result_sample=[pointer, pointer],
            result_executed=[pointer, pointer], result_occupancy=[pointer, pointer],
            result_errors=[pointer, status, status, pointer], result_line_errors=[pointer, size, pointer, pointer],
            result_finding=[pointer, size, pointer])
    if lib.warplens_api_version() != _API_VERSION:
        raise ImportError(f"{path} has version {lib.warplens_api_version()} of the interface; "
                          f"this module needs {_API_VERSION}")
    return lib


_lib = _open_library()


def _check(status):
    if status != 0:
        raise Error(_lib.warplens_error().decode())


def version():
    """The library's version."""
    return _lib.warplens_version().decode()


# ---- arguments ----

_FORMATS = {"bool": "?", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
            "f16": "e", "f32": "f", "f64": "d"}


class scalar:
    """A number of a type that its parameter does not tell: scalar("f16", 0.5). Types: bool, i8 .. u64, f16, bf16, f32,
    f64."""

    def __init__(self, type, value):
        if type == "bf16":
            self.bytes = _bf16(float(value))
        elif type in _FORMATS:
            self.bytes = _packed(_FORMATS[type], value, type)
        else:
            raise Error(f"unknown type '{type}'; types: {', '.join(_FORMATS)}, bf16")


def _packed(format, value, name):
    try:
        return struct.pack("<" + format, value)
    except (struct.error, OverflowError) as why:
        raise Error(f"{value!r} does not fit in {name}: {why}") from None


def _bf16(value):
    """Rounds to nearest even, by way of float's bits."""
    bits, = struct.unpack("<I", struct.pack("<f", value))
    if value == value:
        bits += 0x7fff + (bits >> 16 & 1)
    else:
        bits |= 0x400000
    return struct.pack("<H", bits >> 16 & 0xffff)


class _Array:
    """Memory of this process that a kernel works on: address, bytes, and what keeps it alive."""

    def __init__(self, address, bytes, writable, keep):
        self.address, self.bytes, self.writable, self.keep = address, bytes, writable, keep


def _from_buffer(value):
    try:
        view = memoryview(value)
    except (TypeError, BufferError, ValueError):
        return None
    if not view.c_contiguous:
        raise Error("an array must be contiguous in row-major order; make a copy (numpy.ascontiguousarray)")
    if view.nbytes == 0:
        return _Array(0, 0, False, view)
    if view.readonly:
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return _Array(ctypes.addressof(copy), view.nbytes, False, copy)
    over = (ctypes.c_char * view.nbytes).from_buffer(view)
    return _Array(ctypes.addressof(over), view.nbytes, True, over)


def _from_interface(value):
    """NumPy's __array_interface__, for types that the buffer protocol lacks."""
    interface = getattr(value, "__array_interface__", None)
    if not isinstance(interface, dict) or not isinstance(interface.get("data"), tuple):
        return None
    count = 1
    for extent in interface["shape"]:
        count *= extent
    item = int(interface["typestr"][2:])
    strides, expected = interface.get("strides"), item
    if strides is not None and count > 0:
        for extent, stride in zip(reversed(interface["shape"]), reversed(strides)):
            if extent > 1 and stride != expected:
                raise Error("an array must be contiguous in row-major order; make a copy (numpy.ascontiguousarray)")
            expected *= extent
    address, readonly = interface["data"]
    return _Array(address, count * item, not readonly, value)


def _from_tensor(value):
    """PyTorch's CPU tensors, by the methods that they have."""
    if not all(hasattr(value, n) for n in ("data_ptr", "element_size", "numel", "is_contiguous", "device")):
        return None
    if getattr(value.device, "type", "cpu") != "cpu":
        raise Error("a tensor must be on the CPU: tensor.cpu()")
    if not value.is_contiguous():
        raise Error("a tensor must be contiguous: tensor.contiguous()")
    return _Array(value.data_ptr(), value.numel() * value.element_size(), True, value)


def _array_of(value):
    if isinstance(value, (int, float, bool, scalar, str)) or value is None:
        return None
    if hasattr(value, "__float__") and not getattr(value, "shape", (1,)):
        return None  # NumPy's numbers have the buffer protocol too
    return _from_tensor(value) or _from_buffer(value) or _from_interface(value)


class Parameter(NamedTuple):
    name: str
    type: str
    bytes: int
    alignment: int
    is_structure: bool

    def takes_address(self):
        return not self.is_structure and self.bytes == 8 and not self.type.startswith("f")


_INTEGERS = {1: "bB", 2: "hH", 4: "iI", 8: "qQ"}
_FLOATS = {2: "e", 4: "f", 8: "d"}


def _number(value, parameter, what):
    """The bytes of a Python number as the parameter has it."""
    if isinstance(value, scalar):
        return value.bytes
    if hasattr(value, "__index__") and not parameter.type.startswith("f"):
        whole = int(value)
        formats = _INTEGERS.get(parameter.bytes)
        if formats is None:
            raise Error(f"{what} takes {parameter.bytes} bytes, not a number")
        return _packed(formats[0] if whole < 0 else formats[1], whole, f"{what} (.{parameter.type})")
    if not hasattr(value, "__float__"):
        raise Error(f"{what} (.{parameter.type}): {type(value).__name__} is neither an array nor a number")
    if parameter.type[0] in "us":
        raise Error(f"{what} is .{parameter.type}, and {value!r} is no whole number; warplens.scalar gives other bits")
    if parameter.type == "bf16":
        return _bf16(float(value))
    if parameter.bytes not in _FLOATS:
        raise Error(f"{what} takes {parameter.bytes} bytes, not a number")
    return _packed(_FLOATS[parameter.bytes], float(value), f"{what} (.{parameter.type})")


# ---- results ----


class Sample(NamedTuple):
    """share and seed as asked for; blocks: of the launch. scaled: counts are estimates for all blocks; False for a
    launch that did not run to its end, whose counts are those of the counted blocks."""
    share: float
    seed: int
    counted_blocks: int
    blocks: int
    scaled: bool


class Counters:
    """What accesses of one kind did: requests, lanes, bytes_asked, sectors, ideal_sectors, lines, wavefronts,
    ideal_wavefronts, repeated_sectors (docs/glossary.md). `errors`: standard errors by these names, zeros when every
    block was counted. `estimate`: some of it is modelled, not shown equal to a GPU's. Counters can be added; errors of
    sums are the sums of the errors."""

    __slots__ = _COUNTER_NAMES + ("errors", "estimate")

    def __init__(self, c=None, errors=None):
        self.errors = {name: float(getattr(errors, name)) if errors is not None else 0.0 for name in _COUNTER_NAMES}
        for name in _COUNTER_NAMES:
            setattr(self, name, int(getattr(c, name)) if c is not None else 0)
        self.estimate = c is not None and bool(c.estimate)

    def __add__(self, other):
        total = Counters()
        for name in _COUNTER_NAMES:
            setattr(total, name, getattr(self, name) + getattr(other, name))
            total.errors[name] = self.errors[name] + other.errors[name]
        total.estimate = self.estimate or other.estimate
        return total

    def __eq__(self, other):
        return isinstance(other, Counters) and all(getattr(self, n) == getattr(other, n) for n in _COUNTER_NAMES)

    def __repr__(self):
        return "Counters(" + ", ".join(f"{n}={getattr(self, n)}" for n in _COUNTER_NAMES if getattr(self, n)) + ")"


class Occupancy(NamedTuple):
    """How many blocks of the launch one SM of the GPU holds (docs/occupancy.md). Limits are blocks that a resource alone
    would allow, None where it does not limit. waves: how often all SMs are filled until the grid is done."""
    theoretical: float
    blocks_per_sm: int
    warps_per_sm: int
    limited_by: str
    limit_warps: int
    limit_blocks: int
    limit_registers: int
    limit_shared_memory: int
    limit_barriers: int
    registers_per_thread: int
    registers_estimated: bool
    registers_per_block: int
    shared_bytes_per_block: int
    carveout_kib: int
    carveout_estimated: bool
    waves: float


class Line(NamedTuple):
    """instructions, lanes: PTX instructions that warps executed, and active lanes summed over them."""
    file: str
    line: int
    text: str
    instructions: int
    lanes: int
    global_memory: Counters
    shared_memory: Counters


class Finding(NamedTuple):
    kind: str
    message: str
    file: str
    line: int
    column: int
    block: tuple
    thread: tuple
    address: int


class Result:
    """One launch. complete: ran to its end. sample: None when every block was counted (or none), else a Sample.
    findings: what went wrong. lines: by source line, the worst first. instructions, lanes: PTX instructions that warps
    executed and active lanes summed over them, with errors["instructions"], errors["lanes"] of a sample. occupancy: an
    Occupancy. global_read, global_write, global_atomic, shared_read ... constant_read: Counters. str() is the report."""

    def __init__(self, handle):
        try:
            self.complete = bool(_lib.warplens_result_complete(handle))
            self.text = _lib.warplens_result_text(handle).decode()
            self._json = _lib.warplens_result_json(handle).decode()
            executed = _Executed.new()
            _check(_lib.warplens_result_executed(handle, ctypes.byref(executed)))
            self.instructions, self.lanes = executed.instructions, executed.lanes
            self.errors = {"instructions": executed.instructions_error, "lanes": executed.lanes_error}
            self.occupancy = self._occupancy(handle)
            sample = _Sample.new()
            _check(_lib.warplens_result_sample(handle, ctypes.byref(sample)))
            self.sample = Sample(sample.share, sample.seed, sample.counted_blocks, sample.blocks,
                                 bool(sample.scaled)) if 0 < sample.share < 1 else None
            for m, memory in enumerate(("global", "shared", "local", "constant")):
                for a, access in enumerate(("read", "write", "atomic")):
                    counters = _Counters.new()
                    _check(_lib.warplens_result_totals(handle, m, a, ctypes.byref(counters)))
                    errors = _Errors.new()
                    _check(_lib.warplens_result_errors(handle, m, a, ctypes.byref(errors)))
                    setattr(self, f"{memory}_{access}", Counters(counters, errors))
            self.lines = [self._line(handle, i) for i in range(_lib.warplens_result_line_count(handle))]
            self.findings = [self._finding(handle, i) for i in range(_lib.warplens_result_finding_count(handle))]
        finally:
            _lib.warplens_result_destroy(handle)

    @staticmethod
    def _occupancy(handle):
        c = _Occupancy.new()
        _check(_lib.warplens_result_occupancy(handle, ctypes.byref(c)))
        values = {name: getattr(c, name) for name in Occupancy._fields}
        for name in values:
            if name.startswith("limit_") and values[name] == 2**32 - 1:
                values[name] = None
            if name.endswith("_estimated"):
                values[name] = bool(values[name])
        values["limited_by"] = c.limited_by.decode()
        return Occupancy(**values)

    @staticmethod
    def _line(handle, index):
        c = _Line.new()
        _check(_lib.warplens_result_line(handle, index, ctypes.byref(c)))
        of_global, of_shared = _Errors.new(), _Errors.new()
        _check(_lib.warplens_result_line_errors(handle, index, ctypes.byref(of_global), ctypes.byref(of_shared)))
        return Line(c.file.decode(), c.line, c.text.decode(errors="replace"), c.instructions, c.lanes,
                    Counters(c.global_, of_global), Counters(c.shared, of_shared))

    @staticmethod
    def _finding(handle, index):
        c = _Finding.new()
        _check(_lib.warplens_result_finding(handle, index, ctypes.byref(c)))
        return Finding(c.kind.decode(), c.message.decode(errors="replace"), c.file.decode(), c.line, c.column,
                       tuple(c.block), tuple(c.thread), c.address)

    @property
    def requests(self):
        """Of global memory, reads, writes and atomics together."""
        return (self.global_read + self.global_write + self.global_atomic).requests

    @property
    def sectors(self):
        """Of global memory, reads, writes and atomics together."""
        return (self.global_read + self.global_write + self.global_atomic).sectors

    def json(self):
        """The report as Python objects (docs/report-schema.md)."""
        return _json.loads(self._json)

    def __str__(self):
        return self.text


# ---- sessions, modules, kernels ----


def _extents(value, what):
    parts = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(parts) <= 3 or not all(isinstance(p, int) and 0 <= p < 2**32 for p in parts):
        raise Error(f"{what} is one to three whole numbers, not {value!r}")
    return (ctypes.c_uint32 * 3)(*(parts + (1, 1))[:3])


def _share(sample):
    if not 0 < sample <= 1:  # the interface takes 0 for all
        raise Error(f"sample is a share of the blocks above 0 and up to 1, not {sample!r}")
    return sample


class Kernel:
    """A kernel of a module. Call it with grid, block and one argument for each parameter."""

    def __init__(self, module, handle):
        self._module, self._handle = module, handle
        self.name = _lib.warplens_entry_name(handle).decode()
        self.demangled = _lib.warplens_entry_demangled(handle).decode()
        self.parameters = []
        for i in range(_lib.warplens_parameter_count(handle)):
            c = _Parameter.new()
            _check(_lib.warplens_parameter_get(handle, i, ctypes.byref(c)))
            self.parameters.append(Parameter(c.name.decode(), c.type.decode(), c.bytes, c.alignment,
                                             bool(c.is_structure)))

    def __repr__(self):
        return f"<warplens kernel {self.demangled}>"

    def __call__(self, grid, block, *arguments, cluster=(0, 0, 0), shared=0, count=True, timeout=0.0, sample=1.0,
                 sample_seed=0):
        """Runs the kernel on `arguments`, one for each parameter: arrays, whole numbers, floats,
        None for a null pointer, bytes for structures. `shared`: bytes of dynamic shared memory. `timeout`: seconds, 0
        for none. `sample`: the share of the blocks that are counted; below 1 the counts are estimates, and another
        `sample_seed` chooses other blocks. Gives a Result; a kernel that misbehaves has findings there and is no exception."""
        if len(arguments) != len(self.parameters):
            names = ", ".join(f".{p.type} {p.name}" for p in self.parameters)
            raise Error(f"{self.demangled} has {len(self.parameters)} parameters ({names}), "
                        f"and {len(arguments)} arguments are given")
        shape = _Shape.new(grid=_extents(grid, "grid"), block=_extents(block, "block"),
                           cluster=_extents(cluster, "cluster"), shared_bytes=shared, uncounted=0 if count else 1,
                           timeout_seconds=timeout, sample=_share(sample), sample_seed=sample_seed)
        with _Placed(self._module.session) as placed:
            values = [placed.bytes_of(a, p, f"argument {i + 1}")
                      for i, (a, p) in enumerate(zip(arguments, self.parameters))]
            buffers = [ctypes.create_string_buffer(v, len(v)) for v in values]
            packed = (_Argument * max(len(buffers), 1))(
                *[_Argument(ctypes.addressof(b), len(v)) for b, v in zip(buffers, values)])
            result = ctypes.c_void_p()
            _check(_lib.warplens_launch(self._module.session._handle, self._handle, ctypes.byref(shape), packed,
                                        len(values), ctypes.byref(result)))
            made = Result(result)
            placed.copy_back()
        return made


class _Placed:
    """The arrays of one launch in device memory. An array that is given twice is placed once."""

    def __init__(self, session):
        self._session, self._arrays = session, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for _, address in self._arrays.values():
            _lib.warplens_free(self._session._handle, address)

    def bytes_of(self, value, parameter, what):
        if value is None:
            value = 0
        array = _array_of(value)
        if array is None:
            return _number(value, parameter, what)
        if not parameter.takes_address():
            if array.bytes != parameter.bytes:
                raise Error(f"{what} is an array of {array.bytes} bytes, and the parameter is .{parameter.type} "
                            f"of {parameter.bytes} bytes")
            return ctypes.string_at(array.address, array.bytes)
        return struct.pack("<Q", self._place(array))

    def _place(self, array):
        key = (array.address, array.bytes)
        if key not in self._arrays:
            address = ctypes.c_uint64()
            _check(_lib.warplens_allocate(self._session._handle, array.bytes, ctypes.byref(address)))
            self._arrays[key] = (array, address.value)
            _check(_lib.warplens_copy_in(self._session._handle, address.value, array.address, array.bytes))
        return self._arrays[key][1]

    def copy_back(self):
        for array, address in self._arrays.values():
            if array.writable:
                _check(_lib.warplens_copy_out(self._session._handle, array.address, address, array.bytes))


class Module:
    """Loaded PTX. module["name"] is a Kernel, by mangled or readable name or a part that only one kernel has."""

    def __init__(self, session, handle):
        self.session, self._handle = session, handle

    def __getitem__(self, name):
        entry = ctypes.c_void_p()
        _check(_lib.warplens_entry_find(self._handle, name.encode(), ctypes.byref(entry)))
        return Kernel(self, entry)

    @property
    def kernels(self):
        """All of them."""
        return [Kernel(self, _lib.warplens_entry_at(self._handle, i))
                for i in range(_lib.warplens_entry_count(self._handle))]


class Session:
    """One virtual GPU. gpu: None for the default, a name that "warplens gpus" lists, or the path of a GPU file.
    level: "machine" (default) counts loops as the GPU's assembler lays them out, "ptx" as the PTX stands. counting:
    "fast" (default) by closed forms in generated code, "oracle" lane by lane: slow, and the same numbers."""

    def __init__(self, gpu=None, executor=None, workers=0, level=None, counting=None):
        options = _Options.new(gpu=gpu.encode() if gpu else None, executor=executor.encode() if executor else None,
                               workers=workers, level=level.encode() if level else None,
                               counting=counting.encode() if counting else None)
        self._handle = ctypes.c_void_p()
        _check(_lib.warplens_session_create(ctypes.byref(options), ctypes.byref(self._handle)))

    def __del__(self):
        if getattr(self, "_handle", None):
            _lib.warplens_session_destroy(self._handle)

    @property
    def gpu(self):
        return _lib.warplens_session_gpu(self._handle).decode()

    def loads(self, ptx, name="<ptx>"):
        """Loads PTX text, as str or bytes."""
        text = ptx.encode() if isinstance(ptx, str) else bytes(ptx)
        module = ctypes.c_void_p()
        _check(_lib.warplens_module_load(self._handle, text, len(text), os.fsencode(name), ctypes.byref(module)))
        return Module(self, module)

    def load(self, path):
        """Loads a PTX file."""
        return self.loads(pathlib.Path(path).read_bytes(), str(path))


def load(path, gpu=None):
    """Loads a PTX file on a virtual GPU of its own."""
    return Session(gpu).load(path)


def loads(ptx, name="<ptx>", gpu=None):
    """Loads PTX text on a virtual GPU of its own."""
    return Session(gpu).loads(ptx, name)
