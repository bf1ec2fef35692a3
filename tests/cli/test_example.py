"""The street-view example: its bodies do what they say, on real photographs."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from PIL import Image
from streetview import depth, finding, mesh, pictures, relief
from streetview.nodes import build_scene, export_glb, sv_annotate, sv_detect, sv_fetch

from qwf_agent.cli.demo import photos
from qwf_agent.testing import Idle
from support.servers import ROOT
from support.welcome import Cli

DEFINITIONS = ROOT / "examples" / "streetview" / "definitions"
SHIPPED = {photo.name: photo for photo in photos.shipped()}


def silent(fraction: float, message: str) -> None:
    assert 0 <= fraction <= 1
    assert message


@pytest.fixture
def out(tmp_path: Path) -> Callable[[str], Path]:
    def folder(name: str) -> Path:
        (tmp_path / name).mkdir(exist_ok=True)
        return tmp_path / name

    return folder


def test_the_photographs_are_in_the_package() -> None:
    assert set(SHIPPED) == {"astronaut", "chelsea", "coffee", "rocket", "motorcycle"}
    assert SHIPPED["motorcycle"].right is not None


def test_own_photographs_pair_left_and_right(tmp_path: Path) -> None:
    for name in ("b_left.png", "b_right.png", "a.JPG", "c_left.png", "d_right.png", "notes.txt"):
        (tmp_path / name).touch()
    found = photos.own(tmp_path)
    assert [(p.name, p.right and p.right.name) for p in found] == [
        ("a", None),
        ("b", "b_right.png"),
        ("c_left", None),
        ("d_right", None),
    ]


def test_an_empty_folder_of_photographs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(photos.NoPhotos, match="no photographs"):
        photos.own(tmp_path)


def test_finds_the_face_of_the_astronaut_and_makes_a_relief_of_it(
    out: Callable[[str], Path],
) -> None:
    fetched = sv_fetch.run(out("fetch"), SHIPPED["astronaut"].path)
    image = Path(fetched["primary_file"])
    detected = sv_detect.run(out("detect"), image, silent)
    best = detected["boxes"][0]
    assert best["label"] == "face"
    assert finding.overlap(best["box"], [175, 65, 100, 100]) > 0.5
    shown = sv_annotate.run(out("annotate"), image, detected["boxes"])
    assert (out("annotate") / "candidates.png").is_file()
    assert all(Path(c["picture"]).parent == out("annotate") for c in shown["candidates"])
    assert all(Path(c["picture"]).is_file() for c in shown["candidates"])
    for again in range(2):  # idempotent on its folder
        scene = build_scene.run(
            out("scene"), image, shown["candidates"][0], shown["candidates"], silent
        )
        files = [Path(scene[key]) for key in ("primary_file", "crop_file", "cutout_file")]
        made = export_glb.run(out("export"), *files, silent)
        assert len(list(out("export").iterdir())) == len(made["made"]), again
    json.dumps([fetched, detected, shown, scene, made], allow_nan=False)
    with Image.open(out("export") / "turntable.gif") as turntable:
        assert turntable.n_frames == export_glb.FRAMES


def test_measures_depth_in_a_stereo_pair(out: Callable[[str], Path]) -> None:
    pair = SHIPPED["motorcycle"]
    fetched = sv_fetch.run(out("fetch"), pair.path, pair.right)
    files = [Path(fetched["primary_file"]), Path(fetched["right_file"])]
    detected = sv_detect.run(out("detect"), files[0], silent, files[1])
    assert detected["boxes"][0]["label"] == "near"
    measured = np.load(detected["depth_file"])
    with np.load(pair.path.with_name("motorcycle_disp.npz")) as truth:
        real = truth["arr_0"] * 640 / 741
    real = np.asarray(Image.fromarray(real).resize(measured.shape[::-1], Image.Resampling.NEAREST))
    known = np.isfinite(real)
    assert np.median(np.abs(measured - real)[known]) < 1.5  # pixels


@pytest.mark.parametrize("colour", [0, 128, 255])
def test_a_picture_of_nothing_still_has_a_candidate(
    out: Callable[[str], Path], colour: int
) -> None:
    plain = out("in") / "plain.png"
    Image.new("L", (64, 48), colour).save(plain)
    image = Path(sv_fetch.run(out("fetch"), plain)["primary_file"])
    boxes = sv_detect.run(out("detect"), image, silent)["boxes"]
    assert [box["label"] for box in boxes] == ["whole"]
    candidates = sv_annotate.run(out("annotate"), image, boxes)["candidates"]
    scene = build_scene.run(out("scene"), image, candidates[0], candidates, silent)
    with np.load(scene["primary_file"]) as saved:
        assert np.isfinite(saved["heights"]).all()


def test_the_workflow_asks_which_part_to_take_and_makes_a_relief_of_it(
    qwf: Cli,
    qwf_db: psycopg.Connection[Any],
    run_until_idle: Callable[..., Idle],
    out: Callable[[str], Path],
) -> None:
    """The whole example, with its definitions, in the process of the test."""
    assert qwf("apply", DEFINITIONS).exit_code == 0
    plain = out("in") / "plain.png"
    Image.new("L", (64, 48), 128).save(plain)
    context = json.dumps({"photo": {"path": str(plain)}})
    run = qwf_db.execute("select qwf.enqueue_run('streetview_inspect', %s)", [context]).fetchone()

    found = run_until_idle(nodes="streetview.nodes")
    assert [ran.node_id for ran in found.ran] == [
        "detect/fetch", "detect/detect", "detect/annotate",
    ]  # fmt: skip
    (question,) = [left for left in found.left if left.status == "awaiting_input"]
    assert question.why == [
        "it waits for a person to answer: Which of these should become a relief?"
    ]

    choice = json.dumps(found.ran[-1].output["candidates"][0])
    qwf_db.execute("select qwf.submit_input(%s, 'choose_best', %s)", [*(run or ()), choice])
    made = run_until_idle(nodes="streetview.nodes")
    assert [ran.outcome for ran in made.ran] == ["completed", "completed"]
    assert made.left == []
    assert all(Path(file).is_file() for file in made.ran[-1].output["made"])
    assert qwf_db.execute("select status::text from qwf.runs").fetchone() == ("completed",)


def test_a_shifted_picture_has_the_depth_of_its_shift() -> None:
    noise = np.random.default_rng(1).random((60, 120), dtype=np.float32)
    measured = depth.disparity(noise, np.roll(noise, -5, axis=1), 10, lambda share: None)
    assert np.median(measured) == 5


def test_writes_a_glb_and_a_ply_that_others_can_read(tmp_path: Path) -> None:
    heights = np.random.default_rng(1).random((5, 7))
    colours = np.full((5, 7, 3), (255, 0, 188), dtype=np.uint8)
    grid = mesh.from_grid(relief.surface(heights), relief.normals(heights), colours)
    mesh.write_glb(tmp_path / "a.glb", grid)
    mesh.write_ply(tmp_path / "a.ply", grid)

    data = (tmp_path / "a.glb").read_bytes()
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<I4s", data, 12)
    scene = json.loads(data[20 : 20 + size])
    assert (kind, size % 4) == (b"JSON", 0)
    rest, kind = struct.unpack_from("<I4s", data, 20 + size)
    assert (kind, rest % 4, 28 + size + rest) == (b"BIN\0", 0, len(data))
    views, accessors = scene["bufferViews"], scene["accessors"]
    assert scene["buffers"][0]["byteLength"] == sum(view["byteLength"] for view in views) <= rest
    assert all(view["byteOffset"] % 4 == 0 for view in views)
    buffer = data[28 + size :]
    points = np.frombuffer(buffer, "<f4", 3 * 35, views[0]["byteOffset"]).reshape(-1, 3)
    assert points.min(axis=0).tolist() == accessors[0]["min"]
    faces = np.frombuffer(buffer, "<u4", accessors[3]["count"], views[3]["byteOffset"])
    assert faces.max() == 34
    a, b, c = points[faces.reshape(-1, 3)].transpose(1, 0, 2)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()  # every face looks at the viewer
    red = np.frombuffer(buffer, "<u2", 4, views[2]["byteOffset"])
    assert red.tolist()[:2] == [65535, 0]
    assert abs(red[2] / 65535 - 0.5) < 0.01  # sRGB 188 is half the light

    header, _, body = (tmp_path / "a.ply").read_bytes().partition(b"end_header\n")
    assert b"element vertex 35" in header
    assert b"element face 48" in header
    assert len(body) == 35 * 27 + 48 * 13


def test_pictures_are_turned_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[274] = 6  # taken with the camera on its side
    Image.new("RGB", (40, 20)).save(tmp_path / "a.jpg", exif=exif)
    assert pictures.read(tmp_path / "a.jpg").size == (20, 40)
