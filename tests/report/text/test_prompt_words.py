from beholder.report.text.prompt_words import mark_words


def test_words_keep_their_place_in_the_prompt() -> None:
    prompt = '"A red cat, a cat!" (by night)'
    words = mark_words(prompt, [0, 0.4, 0.6, 0, 1, 0, 0], "{} of 5 raters")
    assert "".join(word.before + word.text + word.after for word in words) == prompt
    assert [word.text for word in words if word.struck] == ["cat", "cat"]
    assert [word.note for word in words if word.note] == [
        "40 % of 5 raters",
        "60 % of 5 raters",
        "100 % of 5 raters",
    ]


def test_what_is_faint_has_no_note() -> None:
    words = mark_words("a cat", [0.25, 0.26], "probability {}", faint=0.25)
    assert [word.note for word in words] == ["", "probability 26 %"]
    assert mark_words("", [], "{}") == ()
