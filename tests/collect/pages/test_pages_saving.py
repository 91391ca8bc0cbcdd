"""No answer is lost, none is counted twice, and only one tab works at a time."""

from tests.collect.mock_server import Mock
from tests.collect.pages.visiting import Open, ready


def test_offline_the_answer_is_kept_over_a_reload(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    mock.down = True
    page.keyboard.press("f")
    page.wait_for_selector("text=Your answer is kept")
    outbox = page.evaluate("localStorage.getItem('beholder.outbox')")
    assert '"choice":"left"' in outbox
    page.close()
    mock.down = False
    again = open_page(kind="pair", from_="trial")
    again.wait_for_selector("text=2 of 3")
    assert [answer["said"][0]["choice"] for answer in mock.visit.answers] == ["left"]
    assert mock.visit.answers[0]["key"] in outbox
    assert again.evaluate("localStorage.getItem('beholder.outbox')") is None


def test_a_lost_acknowledgement_does_not_double_the_answer(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    mock.swallow_next_reply = True
    page.keyboard.press("j")
    page.wait_for_selector("text=2 of 3")
    assert len(mock.visit.answers) == 1
    sent = [body["key"] for path, body in mock.visit.posts if path == "/api/answer"]
    assert len(sent) == 2
    assert sent[0] == sent[1]


def test_a_refused_answer_loads_the_state_again(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    mock.refuse_next_answer = True
    page.keyboard.press("j")
    page.wait_for_timeout(200)
    ready(page)
    page.keyboard.press("f")
    page.wait_for_selector("text=2 of 3")
    assert [answer["said"][0]["choice"] for answer in mock.visit.answers] == ["left"]
    assert page.evaluate("localStorage.getItem('beholder.outbox')") is None


def test_the_older_tab_pauses_until_it_is_called_back(open_page: Open, mock: Mock) -> None:
    older = open_page(kind="pair", from_="trial")
    ready(older)
    newer = open_page(kind="pair", from_="trial")
    older.wait_for_selector("text=open in another tab")
    older.keyboard.press("f")
    ready(newer)
    assert mock.visit.answers == []
    older.get_by_role("button", name="Continue here").click()
    newer.wait_for_selector("text=open in another tab")
    ready(older)
    older.keyboard.press("f")
    older.wait_for_selector("text=2 of 3")
    assert len(mock.visits) == 1


def test_an_answer_waits_for_its_own_session(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial", r="one")
    ready(page)
    mock.down = True
    page.keyboard.press("f")
    page.wait_for_selector("text=Your answer is kept")
    page.close()
    mock.down = False
    open_page(
        kind="pair", from_="consent", r="two"
    ).close()  # another study: the answer is refused there, and kept
    page = open_page(kind="pair", from_="trial", r="one")
    page.wait_for_selector("text=2 of 3")
    assert [len(visit.answers) for visit in mock.visits.values()] == [1, 0]


def test_a_reload_goes_on_where_it_was(open_page: Open, mock: Mock) -> None:
    page = open_page(kind="pair", from_="trial")
    ready(page)
    page.keyboard.press("f")
    page.wait_for_selector("text=2 of 3")
    page.reload()
    page.wait_for_selector("text=2 of 3")
    assert len(mock.visits) == 1
