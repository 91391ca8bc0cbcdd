"""On a desk and on a phone: everything in view, nothing sideways, nothing jumps."""

import pytest
from tests.collect.pages.visiting import Open

KINDS = ["realism", "timed-realism", "pair", "side-by-side-5", "ranking", "rating", "rich-feedback", "sweep"]
PAGES = ["consent", "instructions", "break", "debrief", "done"]
WIDE = "document.documentElement.scrollWidth > window.innerWidth"
OUTSIDE = """all => all.filter(one => {
  const box = one.getBoundingClientRect();
  return box.width && (box.top < 0 || box.left < 0 || box.bottom > innerHeight + 1 || box.right > innerWidth + 1);
}).map(one => one.className)"""
SMALL = """all => all.map(one => [one.textContent, one.getBoundingClientRect()])
  .filter(([, box]) => box.width && (box.width < 43.5 || box.height < 43.5)).map(([text]) => text)"""


SIZES = ({"width": 1280, "height": 800}, {"width": 390, "height": 844})


@pytest.mark.parametrize("kind", KINDS)
def test_a_trial_fits(open_page: Open, kind: str) -> None:
    page = open_page(kind=kind, from_="trial", images=9)
    page.wait_for_selector(".picture img, .start button")
    for size in SIZES:
        page.set_viewport_size(size)
        page.wait_for_timeout(50)
        assert not page.evaluate(WIDE), size
        assert page.locator(".answer, .submit, .picture, .stage, .bar .button").evaluate_all(OUTSIDE) == [], size
        assert page.locator("button, .scale__point").evaluate_all(SMALL) == [], size


@pytest.mark.parametrize("step", PAGES)
def test_a_page_does_not_scroll_sideways(open_page: Open, step: str) -> None:
    page = open_page(kind="timed-realism", from_=step, blocks=2)
    for size in SIZES:
        page.set_viewport_size(size)
        assert not page.evaluate(WIDE), size
        assert page.locator("button").evaluate_all(SMALL) == [], size


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_both_images_of_a_pair_are_alike_and_do_not_jump(open_page: Open, phone: bool) -> None:
    page = open_page(kind="pair", from_="trial", phone=phone)
    boxes = (
        "all => all.map(one => { const b = one.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]; })"
    )
    before = page.locator(".picture").evaluate_all(boxes)
    page.wait_for_selector(".picture img")
    page.wait_for_timeout(100)
    after = page.locator(".picture").evaluate_all(boxes)
    assert before == after
    (_, _, *left), (_, _, *right) = after
    assert left == pytest.approx(right, abs=0.1)
    assert min(left) >= (200 if phone else 480)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_contrast_of_all_text_and_controls(open_page: Open, dark: bool) -> None:
    page = open_page(kind="pair", dark=dark)
    ratios = page.evaluate(CONTRAST)
    assert {name: ratio for name, ratio in ratios.items() if ratio < (3 if name.startswith("edge") else 4.5)} == {}


CONTRAST = """() => {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => {
    const hex = style.getPropertyValue(`--${name}`).trim().slice(1);
    const [r, g, b] = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pairs = [
    ["ink", "ground"], ["ink", "ground-trial"], ["ink", "paper"], ["soft", "ground"], ["soft", "ground-trial"],
    ["soft", "paper"], ["on-accent", "accent"], ["on-accent", "accent-strong"], ["ink", "accent-tint"],
    ["soft", "accent-tint"], ["good", "paper"], ["bad", "paper"], ["warn", "warn-tint"], ["ink", "warn-tint"],
    ["edge", "paper"], ["edge", "ground"],
  ];
  return Object.fromEntries(pairs.map(([one, two]) => {
    const [low, high] = [value(one), value(two)].sort((a, b) => a - b);
    return [`${one} on ${two}`, (high + 0.05) / (low + 0.05)];
  }));
}"""
