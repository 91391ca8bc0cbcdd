"""A person's way from consent to the completion code, and all the ways out."""

import pytest
from tests.collect.mock_server import Mock
from tests.collect.pages.visiting import Open, ready


def paths(mock: Mock) -> list[str]:
    return [path for path, _ in mock.visit.posts]


def test_the_whole_way_by_keyboard_alone(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", blocks=2, trials=2)
    page.get_by_role("button", name="I agree").press("Enter")
    page.wait_for_selector("button:not([disabled]) >> text=Continue")
    page.get_by_role("button", name="Continue").press("Enter")
    page.get_by_role("button", name="Start").press("Enter")
    ready(page)
    page.keyboard.press("f")
    page.get_by_role("button", name="Go on").press("Enter")
    ready(page)
    page.keyboard.press("ArrowDown")
    page.get_by_label("5, completely").first.check()
    page.get_by_label("1, not at all").last.check()
    page.get_by_label("Anything you would like").fill("A fine study.")
    page.get_by_role("button", name="Finish").press("Enter")
    page.wait_for_selector("text=C7F3K9QX")
    page.wait_for_selector("text=6QKM4-9QPDY")

    assert paths(mock) == [
        *("/api/consent", "/api/check", "/api/begin"),
        *("/api/answer", "/api/break", "/api/answer", "/api/debrief"),
    ]
    posts = [body for _, body in mock.visit.posts]
    assert posts[0] == {"agreed": True, "hash": "abc", "version": "1", "language": "en"}
    assert set(posts[1]) == {
        *("screen_width", "screen_height", "viewport_width", "viewport_height"),
        *("pixel_ratio", "zoom", "frame_ms", "touch", "user_agent"),
    }
    assert 5 < posts[1]["frame_ms"] < 40
    assert [answer["said"] for answer in mock.visit.answers] == [
        [{"aspect": "preference", "choice": "left"}],
        [{"aspect": "preference", "choice": "tie"}],
    ]
    assert posts[-1] == {"clear": 5, "fair": 1, "comment": "A fine study."}
    assert page.get_by_role("link", name="Back to the platform").get_attribute("href")


def test_who_declines_is_thanked_and_let_go(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair")
    page.get_by_role("button", name="do not want").click()
    page.wait_for_selector("text=You have chosen not to take part")
    assert mock.visit.posts[0][1]["agreed"] is False


def test_the_language_changes_at_once(open_page: Open) -> None:
    page = open_page(kind="timed-realism")
    assert page.locator("text=Flickering images").is_visible()
    page.get_by_label("Language").select_option("de")
    page.wait_for_selector("text=Flackernde Bilder")
    assert page.locator("text=Worum es geht").is_visible()
    assert page.locator("html").get_attribute("lang") == "de"


def test_withdraw_with_deletion_from_a_trial(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    page.get_by_role("button", name="Withdraw").click()
    page.keyboard.press("f")  # no answer: a dialog is open
    page.get_by_label("Also delete").check()
    page.locator("dialog").get_by_role("button", name="Withdraw").click()
    page.wait_for_selector("text=You have withdrawn")
    assert mock.visit.posts == [("/api/withdraw", {"delete": True})]


def test_report_skips_the_trial(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="realism", from_="trial")
    ready(page)
    page.get_by_role("button", name="Report").click()
    assert page.locator("dialog").get_by_text("3 paid skips are left, this one included").is_visible()
    assert page.locator("dialog input:checked").count() == 0  # nobody is said to be disturbed
    page.get_by_label("It disturbs me").check()
    page.get_by_label("Anything to add").fill("grim")
    page.locator("dialog").get_by_role("button", name="Report and skip").click()
    page.wait_for_selector("text=2 of 3")
    body = {"trial": f"{mock.visit.name}-0", "attempt": 1, "reason": "disturbing", "comment": "grim"}
    assert mock.visit.posts == [("/api/skip", body | {"end": False})]


def test_the_buttons_of_a_dialog_are_equally_wide_on_a_phone(open_page: Open) -> None:
    page = open_page(kind="realism", from_="trial", phone=True)
    ready(page)
    page.get_by_role("button", name="Report").click()
    boxes = [button.bounding_box() for button in page.locator("dialog .button").all()]
    assert len({(box["x"], box["width"]) for box in boxes if box}) == 1


def test_the_last_questions_may_be_left_out(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="debrief")
    page.get_by_role("button", name="Finish").click()
    page.wait_for_selector("text=C7F3K9QX")
    assert mock.visit.posts == [("/api/debrief", {"clear": None, "fair": None, "comment": ""})]


def test_a_break_is_offered_once_and_needs_no_server(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial", offer=1)
    ready(page)
    page.keyboard.press("f")
    page.wait_for_selector("text=A short break?")
    assert page.get_by_text("1 of 3 are done.").is_visible()
    page.get_by_role("button", name="Go on").click()
    ready(page)
    page.keyboard.press("f")
    page.wait_for_selector("text=3 of 3")
    assert paths(mock) == ["/api/answer", "/api/answer"]


def test_own_instructions_examples_and_labels(open_page: Open) -> None:
    page = open_page(
        kind="pair",
        from_="instructions",
        own="%23 Look%0A%0Aclosely",
        examples="good bad neither",
        left="The first",
    )
    assert page.get_by_role("heading", name="Look", exact=True).is_visible()
    assert page.get_by_text("Choose the one that you find better.").count() == 0
    figures = page.locator("figure")
    assert [line.inner_text() for line in figures.locator("strong").all()] == [
        *("✓ Good example", "✗ Bad example", "Example 3"),
    ]
    page.wait_for_function(
        "[...document.querySelectorAll('figure img')].every((image) => image.naturalWidth === 64)"
    )
    assert page.locator(".keys").get_by_text("The first").is_visible()
    page.get_by_role("button", name="Start").click()
    ready(page)
    assert page.locator(".answer").first.inner_text().startswith("The first")


def test_only_a_study_with_attention_checks_speaks_of_them(open_page: Open) -> None:
    page = open_page(kind="pair", from_="instructions")
    assert page.get_by_text("Work at your own pace.").is_visible()
    assert page.get_by_text("trick").count() == 0
    assert page.get_by_text("asks for a certain answer").count() == 0
    page = open_page(kind="pair", from_="instructions", attention=1)
    assert page.get_by_text("asks for a certain answer").is_visible()


def test_every_point_of_a_scale_can_have_a_word(open_page: Open) -> None:
    page = open_page(kind="rating", from_="trial", words="bad poor fair good excellent")
    assert page.locator(".scale__labels span").all_inner_texts() == ["bad", "poor", "fair", "good", "excellent"]
    assert page.get_by_label("3, fair").count() == 1


@pytest.mark.parametrize("phone", [False, True], ids=["desk", "phone"])
def test_past_the_paid_skips_the_page_asks_before_it_ends_the_session(
    open_page: Open, mock: Mock, *, phone: bool
) -> None:
    page = open_page(kind="realism", from_="trial", skips=1, phone=phone)
    ready(page)
    page.get_by_role("button", name="Report").click()
    dialog = page.locator("dialog")
    assert dialog.get_by_text("This is your last paid skip").is_visible()
    dialog.get_by_role("button", name="Report and skip").click()
    page.wait_for_selector("text=2 of 3")
    ready(page)
    page.get_by_role("button", name="Report").click()
    assert dialog.get_by_text("the session ends now. You are paid for the part that you have done").is_visible()
    dialog.get_by_role("button", name="Cancel").click()
    assert len(mock.visit.posts) == 1
    page.get_by_role("button", name="Report").click()
    dialog.get_by_role("button", name="End the session").click()
    page.wait_for_selector("text=Your session has ended before the last image")
    assert [body["end"] for _, body in mock.visit.posts] == [False, True]


def test_a_skipped_qualification_trial_is_said_to_be_wrong(open_page: Open) -> None:
    page = open_page(kind="realism", from_="trial", phase="qualification")
    ready(page)
    page.get_by_role("button", name="Report").click()
    assert page.locator("dialog").get_by_text("a skipped image counts as a wrong answer").is_visible()


def test_a_skipped_attention_check_is_said_to_be_missed(open_page: Open) -> None:
    page = open_page(kind="realism", from_="trial", instruction="real")
    ready(page)
    page.get_by_role("button", name="Report").click()
    assert page.locator("dialog").get_by_text("Skipped, it counts as missed").is_visible()


def test_an_answer_that_the_server_does_not_believe_is_asked_again(open_page: Open, mock: Mock) -> None:
    mock.doubt_next_answer = True
    page = open_page(kind="realism", from_="trial")
    ready(page)
    page.keyboard.press("j")
    page.wait_for_selector("text=This does not count; it will come again.")
    page.wait_for_selector(".feedback", state="detached")
    ready(page)
    page.keyboard.press("j")
    page.wait_for_selector("text=2 of 3")
    assert [answer["attempt"] for answer in mock.visit.answers] == [1, 2]


def test_an_image_that_cannot_be_had_can_be_skipped(open_page: Open, mock: Mock) -> None:
    mock.broken_images = True
    page = open_page(kind="pair", from_="trial")
    page.get_by_role("button", name="Skip it").click()
    page.locator("dialog").get_by_role("button", name="Report and skip").click()
    page.wait_for_selector("text=2 of 3")
    assert mock.visit.posts[0][1]["reason"] == "broken"


@pytest.mark.parametrize("kind", ["pair", "timed-realism"])
def test_images_that_are_being_prepared_are_waited_for_and_never_offered_to_be_skipped(
    open_page: Open, mock: Mock, kind: str
) -> None:
    mock.preparing_images = True
    page = open_page(kind=kind, from_="trial")
    if kind == "timed-realism":
        page.keyboard.press("Space")
    page.wait_for_selector("text=The images are being prepared")
    page.wait_for_timeout(8000)  # longer than six tries with growing pauses would take
    assert page.get_by_role("button", name="Skip it").count() == 0
    mock.preparing_images = False
    page.wait_for_selector("text=The images are being prepared", state="hidden")
    assert page.get_by_role("button", name="Skip it").count() == 0
    if kind == "pair":
        ready(page)
        page.keyboard.press("f")
        page.wait_for_selector("text=2 of 3")
    assert not any(path == "/api/skip" for path, _ in mock.visit.posts)


def test_training_feedback_waits_for_the_rater(open_page: Open) -> None:
    page = open_page(kind="realism", from_="trial", phase="training", feedback="real")
    ready(page)
    page.keyboard.press("j")
    page.wait_for_selector("text=Not quite. The answer is: Real")
    page.wait_for_timeout(130)
    page.keyboard.press(" ")
    page.wait_for_selector("text=2 of 3")


def test_focus_goes_to_the_heading_of_each_step(open_page: Open) -> None:
    page = open_page(kind="pair")
    page.get_by_role("button", name="I agree").click()
    page.wait_for_selector("text=A quick look")
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_an_attention_check_is_put_into_words(open_page: Open) -> None:
    page = open_page(kind="pair", from_="trial", instruction="tie")
    assert page.locator(".ask__instruction").inner_text() == (
        "Attention: Please choose “Tie” here, whatever the images show."
    )
