"""The optional renderer: Blender's path tracer (Cycles) with its denoiser, from the package bpy, in an environment of
its own.

Solids are meshes with the rounded edges that ``shapes`` tells, camera and lamps stand as in ``studio``; nothing is
read but the scene. Each scene is traced twice: shaded, and unshaded with one ray through each pixel's middle, which
gives ids and depths. One process draws many scenes; what one added is removed after it.
"""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compvqa.errors import InputError
from compvqa.scenes.worlds.clevr.picture import Picture
from compvqa.scenes.worlds.clevr.record import camera_of, solids_of
from compvqa.scenes.worlds.clevr.settings import Look, Material
from compvqa.scenes.worlds.clevr.shapes import CUBE_EDGE, CYLINDER_EDGE, Solid
from compvqa.scenes.worlds.clevr.studio import CAMERA, LAMPS, SUN, SUN_TURNED, Camera, directions

BOUNCES = 8  # of light
SUN_ANGLE = 0.2  # radians: what Blender makes of a sun with the soft shadows that its older versions had by default
GROUND = 0.8  # of the light that the ground sends back
REACH = 60.0  # half of the ground's side: beyond it nothing is seen
WALL, CURVE, HIGH = 8.0, 10.0, 20.0  # where the backdrop begins to rise, the radius of its curve, and how high it ends
MIDDLE = 0.01  # the part of a pixel, around its middle, that the unshaded ray goes through
AROUND, ROUND = 128, 8  # faces around a cylinder, and across a rounded edge
SPLITS = 6  # of a ball's first faces, less one


def draw(scene: dict, look_of: Look) -> Picture:
    """Draw a scene as in the scene file, with its camera; lamps that it does not tell are at their base places."""
    camera = camera_of(scene, look_of)
    solids = solids_of(scene, look_of)
    with _quiet(), _added() as things:
        studio = _studio()
        studio.cycles.device = _device(look_of.device)
        _aim(studio, camera)
        for name, lamp in LAMPS.items():
            _place_lamp(studio.objects[name], scene.get("lights", {}).get(name, lamp.place))
        for number, (solid, item) in enumerate(zip(solids, scene["objects"], strict=True), 1):
            color = np.asarray(look_of.colors[item["color"]]) / 255
            paint = _paint(color, look_of.materials[item["material"]])
            things.extend([_object(studio, solid, number, paint), paint])
        seen = _traced(studio, 1, unshaded=True)
        light = _traced(studio, look_of.light_samples, unshaded=False)
    depth = np.where(seen[..., 1] > 0, seen[..., 1], np.float32(np.inf))
    return Picture(_encoded(light), np.round(seen[..., 0]).astype(np.int16), depth)


@cache
def _bpy() -> Any:
    """Blender, kept from the user's folders; InputError where it is not installed."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    os.environ["BLENDER_USER_RESOURCES"] = folder.name
    cache_home = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = folder.name  # for folders of thumbnails, which it makes as it is imported
    try:
        import bpy
    except ImportError as error:
        raise InputError(
            f"the renderer blender needs the package bpy, which cannot be imported here ({error}): install "
            "requirements-blender.lock with Python 3.11, or set renderer to caster."
        ) from None
    finally:
        if cache_home is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = cache_home
    return bpy


@contextmanager
def _quiet() -> Iterator[None]:
    """Leave out what Blender writes to the standard output, past Python."""
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


@contextmanager
def _added() -> Iterator[list[Any]]:
    """A list for what is added to Blender's data for one scene; all of it is removed in the end."""
    things: list[Any] = []
    try:
        yield things
    finally:
        if things:
            _bpy().data.batch_remove(things)


@cache
def _studio() -> Any:
    """Blender's scene with ground, camera and lamps, made once a process, by none of the user's settings."""
    bpy = _bpy()
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    scene.world = None
    scene.render.engine = "CYCLES"
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_mode = "RGB"
    scene.render.image_settings.color_depth = "32"
    scene.render.use_compositing = scene.render.use_sequencer = False
    scene.render.threads_mode = "FIXED"
    scene.render.threads = int(os.environ.get("OMP_NUM_THREADS") or len(os.sched_getaffinity(0)))
    cycles = scene.cycles
    cycles.seed = 0
    cycles.use_adaptive_sampling = cycles.use_light_tree = False
    cycles.max_bounces = cycles.diffuse_bounces = cycles.glossy_bounces = BOUNCES
    cycles.denoiser = "OPENIMAGEDENOISE"
    cycles.denoising_prefilter = "FAST"  # a third of the time, which is not seen
    scene.camera = _linked(scene, "camera", bpy.data.cameras.new("camera"))
    scene.camera.data.sensor_fit = "HORIZONTAL"
    scene.camera.data.lens, scene.camera.data.sensor_width = 35, 32
    for name, lamp in LAMPS.items():
        light = bpy.data.lights.new(name, "AREA")
        light.shape, light.size = "SQUARE", lamp.side
        light.energy, light.color = lamp.watts, lamp.color
        _linked(scene, name, light)
    sun = bpy.data.lights.new("sun", "SUN")
    sun.energy, sun.angle = SUN, SUN_ANGLE
    _linked(scene, "sun", sun).rotation_euler = SUN_TURNED
    gray = _paint(np.full(3, GROUND), Material(roughness=1))
    _linked(scene, "ground", _strip([(-REACH, 0), (REACH, 0)], gray))
    angles = np.linspace(0, np.pi / 2, 25)
    curve = [(WALL + CURVE * np.sin(angle), CURVE * (1 - np.cos(angle))) for angle in angles]
    _linked(scene, "backdrop", _strip([*curve, (WALL + CURVE, HIGH)], gray))
    _unshaded()
    return scene


def _strip(profile: Sequence[tuple[float, float]], paint: Any) -> Any:
    """The mesh of a wide strip across the view from the camera's base place; its profile: how far behind the origin,
    how high."""
    far, up = np.array(profile).T
    right, behind = (np.array(directions(CAMERA)[name]) for name in ("right", "behind"))
    line = np.outer(far, behind) + np.outer(up, (0, 0, 1))
    points = np.stack([line - REACH * right, line + REACH * right], axis=1).reshape(-1, 3)
    starts = range(0, len(points) - 2, 2)
    mesh = _bpy().data.meshes.new("strip")
    mesh.from_pydata(points.tolist(), [], [(i, i + 1, i + 3, i + 2) for i in starts])
    mesh.shade_smooth()
    mesh.materials.append(paint)
    return mesh


@cache
def _device(wanted: str) -> str:
    """What Cycles calls the device; InputError where a GPU is wanted and it finds none."""
    if wanted == "gpu":
        found = _bpy().context.preferences.addons["cycles"].preferences
        kinds = [kind for kind, *_ in found.get_device_types(_bpy().context) if kind != "NONE"]
        for kind in sorted(kinds, key="OPTIX".__ne__):
            found.compute_device_type = kind
            found.refresh_devices()
            if any(device.type == kind for device in found.devices):
                for device in found.devices:
                    device.use = device.type == kind
                return "GPU"
        raise InputError("Blender finds no GPU here that it can draw on: set device to cpu.")
    return "CPU"


def _linked(scene: Any, name: str, data: Any) -> Any:
    """A new object of the scene."""
    made = _bpy().data.objects.new(name, data)
    scene.collection.objects.link(made)
    return made


def _aim(studio: Any, camera: Camera) -> None:
    """Put the camera up; its x axis goes to the right, its y axis up, and it looks down its z axis."""
    from mathutils import Matrix

    right, down, into = camera.axes
    axes = np.column_stack([right, -down, -into])
    studio.camera.matrix_world = Matrix.Translation(camera.place) @ Matrix(axes.tolist()).to_4x4()
    studio.render.resolution_x, studio.render.resolution_y = camera.width, camera.height
    studio.render.resolution_percentage = 100


def _place_lamp(lamp: Any, place: Sequence[float]) -> None:
    from mathutils import Vector

    lamp.location = place
    lamp.rotation_euler = (-Vector(place)).to_track_quat("-Z", "Y").to_euler()


def _object(studio: Any, solid: Solid, number: int, paint: Any) -> Any:
    """A solid in the scene, with the number that the unshaded picture has for it."""
    made = _linked(studio, f"object {number}", _mesh(solid.kind))
    made.location, made.scale = solid.centre, (solid.radius,) * 3
    made.rotation_euler = (0, 0, solid.turned)
    made.pass_index = number
    made.material_slots[0].link = "OBJECT"
    made.material_slots[0].material = paint
    return made


@cache
def _mesh(kind: str) -> Any:
    """The mesh of a shape of radius 1, smoothly shaded."""
    import bmesh

    shape = bmesh.new()
    if kind == "sphere":
        bmesh.ops.create_icosphere(shape, subdivisions=SPLITS, radius=1)  # a uvsphere's faces come in any order
    elif kind == "cylinder":
        bmesh.ops.create_cone(shape, cap_ends=True, segments=AROUND, radius1=1, radius2=1, depth=2)
        rims = [edge for edge in shape.edges if edge.verts[0].co.z * edge.verts[1].co.z > 0]
        bmesh.ops.bevel(shape, geom=rims, offset=float(CYLINDER_EDGE), segments=ROUND, profile=0.5, affect="EDGES")
    else:
        bmesh.ops.create_cube(shape, size=2)
        edges = list(shape.edges)
        bmesh.ops.bevel(shape, geom=edges, offset=float(CUBE_EDGE), segments=ROUND, profile=0.5, affect="EDGES")
    mesh = _bpy().data.meshes.new(kind)
    shape.to_mesh(mesh)
    shape.free()
    mesh.shade_smooth()
    mesh.materials.append(None)
    return mesh


def _paint(color: np.ndarray, material: Material) -> Any:
    """A surface of a colour (linear RGB)."""
    paint = _bpy().data.materials.new("paint")
    surface = paint.node_tree.nodes["Principled BSDF"].inputs
    surface["Base Color"].default_value = (*color.tolist(), 1)
    surface["Metallic"].default_value = material.metal
    surface["Roughness"].default_value = material.roughness**0.5  # Blender squares it; the mirror's blur is meant
    return paint


@cache
def _unshaded() -> Any:
    """A surface that shines with its object's number as red, and its depth along the camera's axis as green."""
    paint = _bpy().data.materials.new("unshaded")
    nodes, links = paint.node_tree.nodes, paint.node_tree.links
    nodes.clear()
    both, shine, out = (nodes.new(f"ShaderNode{name}") for name in ("CombineXYZ", "Emission", "OutputMaterial"))
    links.new(nodes.new("ShaderNodeObjectInfo").outputs["Object Index"], both.inputs["X"])
    links.new(nodes.new("ShaderNodeCameraData").outputs["View Z Depth"], both.inputs["Y"])
    links.new(both.outputs[0], shine.inputs["Color"])
    links.new(shine.outputs[0], out.inputs["Surface"])
    return paint


def _traced(studio: Any, samples: int, unshaded: bool) -> np.ndarray:
    """What is seen of the scene (height, width, 3), as linear numbers."""
    bpy = _bpy()
    studio.view_layers[0].material_override = _unshaded() if unshaded else None
    studio.objects["backdrop"].hide_render = unshaded  # to ids and depths the ground is level
    studio.cycles.samples = samples
    studio.cycles.use_denoising = not unshaded
    studio.cycles.pixel_filter_type = "BOX" if unshaded else "BLACKMAN_HARRIS"
    studio.cycles.filter_width = MIDDLE if unshaded else 1.5
    with tempfile.TemporaryDirectory() as folder:
        studio.render.filepath = str(Path(folder) / "traced.exr")
        bpy.ops.render.render(write_still=True)
        image = bpy.data.images.load(studio.render.filepath)
        try:
            image.colorspace_settings.name = "Non-Color"
            numbers = np.empty(len(image.pixels), np.float32)
            image.pixels.foreach_get(numbers)
        finally:
            bpy.data.images.remove(image)
    shape = (studio.render.resolution_y, studio.render.resolution_x, -1)
    return numbers.reshape(shape)[::-1, :, :3]


def _encoded(light: np.ndarray) -> np.ndarray:
    """Linear light as sRGB bytes: Blender's view transform Standard."""
    light = np.clip(light, 0, 1)
    curve = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.round(255 * curve).astype(np.uint8)
