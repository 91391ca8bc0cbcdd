from beholder.report.text.prompt_words import prompt_words


def test_words_keep_their_place_in_the_prompt() -> None:
    prompt = '"A red cat, a cat!" (by night)'
    found = prompt_words(prompt, [0, 0.4, 0.6, 0, 1, 0, 0], "{} of 5 people")
    assert "".join(word.before + word.text + word.after for word in found) == prompt
    assert [word.text for word in found if word.struck] == ["cat", "cat"]
    assert [word.told for word in found if word.told] == [
        "40 % of 5 people",
        "60 % of 5 people",
        "100 % of 5 people",
    ]


def test_what_is_faint_is_not_told() -> None:
    found = prompt_words("a cat", [0.25, 0.26], "chance {}", faint=0.25)
    assert [word.told for word in found] == ["", "chance 26 %"]
    assert prompt_words("", [], "{}") == ()
