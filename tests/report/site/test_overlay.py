import numpy as np
from PIL import Image

from beholder.report.site.overlay import FAINT, GROUND, RAMPS, blend, build_layer, draw_heatmap, ramp_of


def test_colours_by_hand() -> None:
    # 1 where all marked: .85 of the darkest stop (#6a040f) and .15 of the ground;
    # a white image pales to 255, a black one to 255 · (1 − .55) = 114.75
    drawn = np.asarray(blend(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]]), RAMPS["implausibility"]))
    assert GROUND == 0.55
    assert drawn[0, 0].tolist() == [255, 255, 255]
    ground = 0.15 * 114.75
    assert drawn[0, 1].tolist() == [round(0.85 * c + ground) for c in (0x6A, 0x04, 0x0F)]


def test_between_two_stops_a_colour_is_between_them() -> None:
    # at 1/3 the second of four stops (#3ea6e0), covered by .55 + .1 = .65 over an even ground of 255 · .89
    drawn = np.asarray(blend(np.full((1, 1), 1 / 3), None, RAMPS["misalignment"]))
    ground = 0.35 * 255 * (0.45 + 0.55 * 0.8)
    assert drawn[0, 0].tolist() == [round(0.65 * c + ground) for c in (0x3E, 0xA6, 0xE0)]


def test_what_is_faint_fades_into_the_image() -> None:
    # at .05, half of FAINT: half of .55 + .3 · .05 of the colour at 3 · .05 of the way between the first stops
    assert FAINT == 0.1
    drawn = np.asarray(blend(np.array([[0.0, 0.05]]), np.ones((1, 2)), RAMPS["implausibility"]))
    assert drawn[0, 0].tolist() == [255, 255, 255]
    colour = 0.85 * np.array([0xFF, 0xE0, 0x8A]) + 0.15 * np.array([0xF4, 0x80, 0x1F])
    cover = 0.5 * (0.55 + 0.3 * 0.05)
    assert drawn[0, 1].tolist() == np.rint(cover * colour + (1 - cover) * 255).astype(int).tolist()


def test_a_map_takes_the_proportions_of_its_picture() -> None:
    heatmap = np.zeros((4, 4), np.float32)
    heatmap[0] = 1
    wide = draw_heatmap(heatmap, Image.new("RGB", (400, 200), "white"), "misalignment", side=100)
    assert wide.size == (100, 50)
    pixels = np.asarray(wide)
    assert pixels[0, 50, 2] > pixels[0, 50, 0]  # blue at the top
    assert pixels[-1, 50].tolist() == [255, 255, 255]
    assert draw_heatmap(heatmap, None, "misalignment", side=3).size == (3, 3)


def test_a_layer_has_the_marked_proportion_and_the_peak() -> None:
    layer = build_layer(np.array([[0.0, 0.25], [0.0, 0.5]]), None, "implausibility", "a picture")
    assert (layer.aspect, layer.alt, layer.peak, layer.marked) == ("implausibility", "a picture", 0.5, 0.5)
    assert layer.source.startswith("data:image/webp;base64,")
    assert ramp_of("something else") == RAMPS["implausibility"]
