"""The way back: no link can send anybody elsewhere, whatever a browser makes of an address."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from beholder.collect.session.completion import MTURK_HOSTS, mturk_host
from beholder.study.collecting import Collecting
from beholder.study.kinds.realism import RealismQuestion
from beholder.study.question import Design

Serve = Callable[..., Any]

QUESTION = RealismQuestion(name="q", design=Design(raters=100, trials=4))

HOSTILE = (
    "https://evil.example\\@www.mturk.com",
    "https://evil.example/@www.mturk.com",
    "https://evil.example#@www.mturk.com",
    "https://evil.example?@www.mturk.com",
    "https://www.mturk.com@evil.example",
    "https://www.mturk.com:443@evil.example",
    "https://www.mturk.com%2f@evil.example",
    "https://www.mturk.com%00.evil.example",
    "https://www.mturk.com\\.evil.example",
    "https://www.mturk.com.evil.example",
    "https://evil-mturk.com",
    "https://evil.mturk.com.example",
    "https://mturk.com.evil.example",
    "https://www.mturk.com:8443",
    "https://user:password@www.mturk.com",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "https:\\\\evil.example",
    "//evil.example",
    "\\\\evil.example",
    "http://www.mturk.com",
    "HTTPS://EVIL.EXAMPLE",
    "javascript:alert(1)//www.mturk.com",
    "javascript://www.mturk.com/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "blob:https://www.mturk.com/evil",
    "https://www.mturk.com\t@evil.example",
    "https://www.mturk.com\n.evil.example",
    "ht\ntps://evil.example",
    " https://evil.example",
    "https://www.mturk.com@evil.example/",
    "https://www\u3002mturk\u3002com\u3002evil.example",
    "https://www.mturk\u2024com",
    "https://\uff57ww.mturk.com@evil.example",
    "https://www.mturk.com\uff0f@evil.example",
    "https://www.mt\u0443rk.com",
    "https://xn--www-mturk-com.example",
    "https://[::1]",
    "https://[",
    "https://0x7f.1",
    "https://evil.example/https://www.mturk.com",
    "https://www.mturk.com/../@evil.example",
    "https://www.mturk.com//evil.example",
    "https://www.mturk.com/?u=https://evil.example",
    "https://sub.www.mturk.com",
    "",
)


def test_every_hostile_address_ends_at_a_known_platform_or_nowhere(serve: Serve, chromium: Any) -> None:  # noqa: ANN401
    served = serve(QUESTION, limited=False)
    addresses = []
    for number, submit in enumerate(HOSTILE):
        visitor = served.visitor()
        visitor.enter(workerId=f"A{number}", assignmentId="a&b=c/../@x", turkSubmitTo=submit)
        addresses.append(visitor.consent(agreed=False).json()["done"]["redirect"])
    page = chromium.new_page()
    parsed = page.evaluate(
        "list => list.map(a => a && (({protocol, host, username, pathname}) => "
        "[protocol, host, username, pathname])(new URL(a, 'https://study.example/')))",
        [*addresses, "https://evil.example\\@www.mturk.com/mturk/externalSubmit"],
    )
    assert parsed.pop()[1] == "evil.example"  # as a browser reads the address that the server let through once
    assert len(parsed) >= 30
    for submit, parts in zip(HOSTILE, parsed, strict=True):
        assert parts is None or (
            parts[1] in MTURK_HOSTS and [parts[0], *parts[2:]] == ["https:", "", "/mturk/externalSubmit"]
        ), (submit, parts)
    assert sum(parts is None for parts in parsed) == len(HOSTILE)


@pytest.mark.parametrize("host", sorted(MTURK_HOSTS))
def test_mturk_itself_is_known(host: str) -> None:
    assert mturk_host(f"https://{host}") == mturk_host(f"https://{host}/") == host
    assert mturk_host(f"https://{host}//") is None


TEMPLATES = (
    "panel.example/end",
    "//panel.example/end",
    "/end",
    "{id}",
    "{scheme}://panel.example/",
    "https://{id}/end",
    "https://{id}.panel.example/end",
    "https://panel.example{id}/end",
    "https://panel.example:{id}/end",
    "https://{id}@panel.example/end",
    "https://user@panel.example/end",
    "https:panel.example",
    "https:///end",
    "https://",
    "https://[",
    "javascript:alert('{id}')",
    "data:text/html,{id}",
    "ftp://panel.example/",
    "https://panel.example\\@evil.example/",
    "https://panel.example /",
    "https://p\u0430nel.example/",
    "https://panel.example\n/",
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_must_name_its_host(template: str) -> None:
    with pytest.raises(ValidationError, match=r"collect|redirect|address|host"):
        Collecting(redirect=template)


def test_what_a_link_says_cannot_leave_the_templates_host(serve: Serve, chromium: Any) -> None:  # noqa: ANN401
    template = "http://panel.example:8080/{x}/end?c={code}&p={personal_code}&i={id}&x={x}&gone={gone}#{x}"
    served = serve(QUESTION, collect={"redirect": template, "panel_parameter": "ID"}, limited=False)
    page = chromium.new_page()
    for value in ("//evil.example", "\\\\evil.example", "..", "@evil.example", "?#&=%2f%5c", "{id}", "\n\t"):
        visitor = served.visitor()
        visitor.enter(ID=value, x=value, code="forged", outcome="forged", personal_code="forged")
        done = visitor.consent(agreed=False).json()["done"]
        host, query = page.evaluate(
            "a => { const u = new URL(a); return [u.host, Object.fromEntries(u.searchParams)] }", done["redirect"]
        )
        assert host == "panel.example:8080"
        assert query == {"c": "", "p": done["personal_code"], "i": value, "x": value, "gone": ""}
