"""Triangle meshes with a colour at every vertex, as PLY and as binary glTF (GLB)."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FLOAT, UNSIGNED_SHORT, UNSIGNED_INT = 5126, 5123, 5125
VERTICES, INDICES = 34962, 34963


@dataclass(frozen=True)
class Mesh:
    """points and normals (n, 3), colours (n, 3) in sRGB bytes, faces (m, 3) counter-clockwise."""

    points: np.ndarray
    normals: np.ndarray
    colours: np.ndarray
    faces: np.ndarray


def from_grid(points: np.ndarray, normals: np.ndarray, colours: np.ndarray) -> Mesh:
    """The mesh of a surface given as a grid of points: two triangles per cell."""
    rows, columns = points.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = index[:-1, :-1], index[:-1, 1:], index[1:, :-1], index[1:, 1:]
    faces = np.stack([a, c, b, b, c, d], axis=-1).reshape(-1, 3)
    return Mesh(points.reshape(-1, 3), normals.reshape(-1, 3), colours.reshape(-1, 3), faces)


def write_ply(path: Path, mesh: Mesh) -> None:
    """Write the mesh as binary little-endian PLY."""
    axes = [(name, "<f4") for name in ("x", "y", "z", "nx", "ny", "nz")]
    bytes_ = [(name, "u1") for name in ("red", "green", "blue")]
    vertices = np.empty(len(mesh.points), dtype=axes + bytes_)
    values = np.concatenate([mesh.points, mesh.normals, mesh.colours], axis=1)
    for column, (name, _) in enumerate(axes + bytes_):
        vertices[name] = values[:, column]
    faces = np.empty(len(mesh.faces), dtype=[("count", "u1"), ("corners", "<i4", 3)])
    faces["count"], faces["corners"] = 3, mesh.faces
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(vertices)}"]
    header += [f"property float {name}" for name, _ in axes]
    header += [f"property uchar {name}" for name, _ in bytes_]
    header += [f"element face {len(faces)}", "property list uchar int vertex_indices", "end_header"]
    path.write_bytes("\n".join(header).encode() + b"\n" + vertices.tobytes() + faces.tobytes())


def write_glb(path: Path, mesh: Mesh) -> None:
    """Write the mesh as binary glTF 2.0, which requires vertex colours in linear light."""
    linear = np.where(
        mesh.colours <= 10.3, mesh.colours / 3294.6, ((mesh.colours / 255 + 0.055) / 1.055) ** 2.4
    )
    opaque = np.pad(linear, ((0, 0), (0, 1)), constant_values=1)
    points = mesh.points.astype("<f4")
    arrays = [
        (points, "VEC3", FLOAT, VERTICES),
        (mesh.normals.astype("<f4"), "VEC3", FLOAT, VERTICES),
        (np.uint16(65535 * opaque), "VEC4", UNSIGNED_SHORT, VERTICES),
        (mesh.faces.astype("<u4").reshape(-1), "SCALAR", UNSIGNED_INT, INDICES),
    ]
    views, accessors, data = [], [], b""
    for array, kind, component, target in arrays:
        views.append(
            {"buffer": 0, "byteOffset": len(data), "byteLength": array.nbytes, "target": target}
        )
        accessor = {
            "bufferView": len(accessors),
            "componentType": component,
            "count": len(array),
            "type": kind,
        }
        accessors.append(accessor | ({"normalized": True} if component == UNSIGNED_SHORT else {}))
        data += array.tobytes()
    accessors[0] |= {"min": points.min(axis=0).tolist(), "max": points.max(axis=0).tolist()}
    primitive = {
        "attributes": {"POSITION": 0, "NORMAL": 1, "COLOR_0": 2},
        "indices": 3,
        "material": 0,
    }
    scene = {
        "asset": {"version": "2.0", "generator": "qwf streetview example"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "materials": [
            {
                "doubleSided": True,
                "pbrMetallicRoughness": {"metallicFactor": 0, "roughnessFactor": 0.9},
            }
        ],
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(data)}],
    }
    text = json.dumps(scene, separators=(",", ":")).encode()
    chunks = _chunk(b"JSON", text, b" ") + _chunk(b"BIN\0", data, b"\0")
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


def _chunk(kind: bytes, content: bytes, filler: bytes) -> bytes:
    content += filler * (-len(content) % 4)
    return struct.pack("<I4s", len(content), kind) + content
