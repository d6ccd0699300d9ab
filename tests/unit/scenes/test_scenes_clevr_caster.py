"""The embedded renderer of CLEVR's world: exact ids, soft shadows, metal told from rubber, the official pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.ndimage import maximum_filter

from compvqa.errors import InputError
from compvqa.scenes.worlds import clevr
from compvqa.scenes.worlds.clevr import record
from compvqa.scenes.worlds.clevr.redraw import figure, redraw
from compvqa.scenes.worlds.clevr.renderers import caster
from compvqa.scenes.worlds.clevr.renderers.caster.lamps import lights
from compvqa.scenes.worlds.clevr.renderers.caster.shadows import outlines
from compvqa.scenes.worlds.clevr.sample import sample_scene
from compvqa.scenes.worlds.clevr.settings import ClevrSettings, Look
from compvqa.scenes.worlds.clevr.shapes import SHAPES, Solid
from compvqa.scenes.worlds.clevr.studio import CAMERA, Camera

LOOK = Look(width=120, height=80)
EYE = Camera(CAMERA, 120, 80)


def thing(shape="sphere", color="gray", material="rubber", size="large", at=(0.0, 0.0), rotation=0.3):
    where = {"3d_coords": [*at, LOOK.sizes[size]], "rotation": rotation}
    return {"shape": shape, "color": color, "material": material, "size": size, **where}


def draw(*objects, look=LOOK):
    return caster.draw({"objects": list(objects), "camera": list(CAMERA)}, look)


def brightness(picture, number=1):
    return picture.color[picture.ids == number].astype(float).mean(-1)


def test_the_mask_of_a_ball_is_where_rays_through_the_pixels_middles_meet_it():
    eye = np.array(CAMERA)
    into = -eye / np.linalg.norm(eye)
    right = np.array([into[1], -into[0], 0]) / np.hypot(into[0], into[1])
    y, x = np.mgrid[:80, :120] + 0.5
    focal = 120 * 35 / 32
    rays = into + ((x - 60) / focal)[..., None] * right + ((y - 40) / focal)[..., None] * np.cross(into, right)
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    away = np.array([0.5, -0.4, 0.7]) - eye
    near = away @ away - (rays @ away) ** 2
    assert ((draw(thing(at=(0.5, -0.4))).ids == 1) == (near < 0.49)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_shapes_middle_is_in_its_box_and_its_surface_is_where_its_distance_is_zero(shape):
    picture = draw(thing(shape, at=(1.0, 0.5)))
    x, y, width, height = picture.box(0)
    u, v, _ = EYE.project(np.array([1.0, 0.5, 0.7]))
    assert x < u < x + width and y < v < y + height
    solid = Solid(shape, (1.0, 0.5, 0.7), 0.7, 0.3)
    assert np.abs(solid.distance(solid.surface().astype(np.float32))).max() < 1e-5
    rows, columns = np.nonzero(picture.ids == 1)
    rays = EYE.rays(columns + 0.5, rows + 0.5)
    met = np.array(CAMERA)[:, None] + rays * picture.depth[rows, columns]
    assert np.abs(solid.distance(met.astype(np.float32))).max() < 2e-3


def test_what_is_nearer_hides_what_is_behind():
    far, near = thing(at=(-1.0, 1.0)), thing("cube", at=(1.0, -0.9))
    both = draw(far, near)
    assert both.pixels(2)[0] < draw(far).pixels(1)[0]
    assert both.pixels(2)[1] == draw(near).pixels(1)[0]


def test_a_picture_is_drawn_again_byte_for_byte():
    scene = sample_scene(ClevrSettings(width=120, height=80), 4, 0)
    assert caster.draw(scene, LOOK).png() == caster.draw(scene, LOOK).png()


def test_the_scene_file_alone_is_enough_to_draw_its_pictures(tmp_path):
    clevr.generate(tmp_path, ClevrSettings(width=120, height=80, scenes=1, condition="cogent_b"), 2)
    info, [scene] = record.read(tmp_path / "scenes.json")
    again = caster.draw(scene, record.look_in(info))
    assert again.png() == (tmp_path / "images" / scene["image_filename"]).read_bytes()


@pytest.mark.parametrize("shape", SHAPES)
def test_metal_is_told_from_rubber_by_its_contrasts(shape):
    rubber, metal = (brightness(draw(thing(shape, "blue", material))) for material in ("rubber", "metal"))
    contrasts = [np.percentile(values, 99) - np.percentile(values, 5) for values in (rubber, metal)]
    assert contrasts[1] > 1.2 * contrasts[0]


def test_metal_mirrors_its_neighbour_and_rubber_does_not():
    ball = thing("sphere", "red", at=(1.3, -0.3))
    shift = {}
    for material in ("metal", "rubber"):
        drum = thing("cylinder", "gray", material, at=(-0.4, 0.4))
        alone, beside = draw(drum), draw(drum, ball)
        both = (alone.ids == 1) & (beside.ids == 1)
        reds = [picture.color[both].astype(float) @ (1, -0.5, -0.5) for picture in (alone, beside)]
        shift[material] = np.percentile(reds[1] - reds[0], 99)
    assert shift["metal"] > 20 > 12 > shift["rubber"]


def test_shadows_are_dark_soft_and_of_the_ground_near_things_alone():
    bare, shaded = draw(), draw(thing("cube"))
    ground = (shaded.ids == 0) & ~np.roll(shaded.ids > 0, 1, 0) & ~np.roll(shaded.ids > 0, 1, 1)
    ground &= ~np.roll(shaded.ids > 0, -1, 0) & ~np.roll(shaded.ids > 0, -1, 1)
    drop = (bare.color.astype(int) - shaded.color).mean(-1)[ground]
    assert drop.max() > 25  # dark
    assert len(np.unique(np.round(drop))) > 15  # with all shades between
    assert drop.min() > -6 and np.median(drop) < 4


def test_a_shadows_outline_is_where_rays_that_touch_the_solid_meet_the_ground():
    ball = Solid("sphere", (0.5, 0.2, 0.7), 0.7, 0.0)
    [lamp, *_] = lights({})
    corners = outlines(ball, lamp.samples(1))[0]
    rays = np.vstack([corners.T, np.zeros(len(corners))]) - lamp.place[:, None]
    rays /= np.linalg.norm(rays, axis=0)
    away = np.array(ball.centre) - lamp.place
    assert np.sqrt(away @ away - (away @ rays) ** 2) == pytest.approx(0.7, abs=0.02)


def test_edges_are_smooth():
    picture = draw(thing("cube", "yellow", at=(0.0, 0.0), rotation=0.9))
    inside = picture.ids == 1
    rim = inside & ~(np.roll(inside, 1, 1) & np.roll(inside, -1, 1) & np.roll(inside, 1, 0) & np.roll(inside, -1, 0))
    yellow = picture.color.astype(float) @ (0.5, 0.5, -1)
    assert np.ptp(yellow[rim]) > 0.5 * np.ptp(yellow)  # from nearly the ground's to the thing's own
    assert len(np.unique(np.round(yellow[rim] / 4))) > 10


def test_more_places_at_edges_change_them_alone_and_come_nearer_to_what_is_there():
    things = thing("cube", material="metal"), thing(at=(-1.5, 1.0)), thing("cylinder", "blue", at=(1.5, -1.0))
    pictures = {many: draw(*things, look=LOOK.model_copy(update={"edge_samples": many})) for many in (1, 5, 12, 64)}
    ids, best = pictures[64].ids, pictures[64].color.astype(int)
    flat = ids == maximum_filter(ids, 5)
    flat &= ids == -maximum_filter(-ids, 5)
    away = {many: np.abs(picture.color - best) for many, picture in pictures.items()}
    assert all((pictures[many].ids == ids).all() for many in pictures)
    assert away[1][~flat].mean() > 2 * away[5][~flat].mean() > 2 * away[12][~flat].mean()
    assert all((away[many][(ids == 0) & flat] == 0).all() for many in pictures)


@given(st.integers(1, 64))
def test_places_within_a_pixel_are_one_in_each_row_and_column(many):
    for places in caster._within(many):
        assert np.allclose(np.sort(places) * many, np.arange(many) + 0.5)


def test_an_unknown_renderer_is_told_with_those_that_there_are(tmp_path):
    with pytest.raises(InputError, match=r"there is no renderer 'pencil': use one of .*caster"):
        clevr.generate(tmp_path, ClevrSettings(renderer="pencil"), 1)


def test_an_official_scene_is_drawn_nearly_as_its_picture(shared, tmp_path):
    _, scenes = record.read(shared / "data/clevr/CLEVR_val_scenes_of_images.json")
    scene = next(scene for scene in scenes if scene["image_index"] == 12)
    pair = redraw(scene, shared / "data/clevr/images/CLEVR_val_000012.png")
    assert pair.psnr > 32 and pair.residual < 1
    figure([pair], tmp_path / "pair.png")
    assert Image.open(tmp_path / "pair.png").size == (480 + 6 + 480, 320)
    with pytest.raises(InputError, match="cannot be read as a picture"):
        redraw(scene, tmp_path / "missing.png")


def test_a_coarser_map_of_the_ground_changes_things_alone_and_little():
    coarse = LOOK.model_copy(update={"mirrored": 64})
    things = thing(at=(-1.0, 0.0)), thing(material="metal", at=(1.0, 0.0), color="red")
    fine, other = draw(*things), draw(*things, look=coarse)
    away = np.abs(fine.color.astype(int) - other.color).max(axis=2)
    around = maximum_filter(fine.ids > 0, 3)  # at edges pixels are mixtures
    assert not away[~around].any() and away[around].any() and away[around].mean() < 2
