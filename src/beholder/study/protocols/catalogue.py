"""All protocols. A new one is a file next to this one, and a line below."""

from beholder.study.protocols.hpd_pairs import HPD_PAIRS
from beholder.study.protocols.hpd_ranking import HPD_RANKING
from beholder.study.protocols.hype_infinity import HYPE_INFINITY
from beholder.study.protocols.hype_time import HYPE_TIME
from beholder.study.protocols.layer6_realism import LAYER6_REALISM
from beholder.study.protocols.mos import MOS
from beholder.study.protocols.protocol import Protocol
from beholder.study.protocols.rich_feedback import RICH_FEEDBACK
from beholder.study.protocols.side_by_side import SIDE_BY_SIDE

PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol
    for protocol in (
        HYPE_TIME,
        HYPE_INFINITY,
        LAYER6_REALISM,
        HPD_PAIRS,
        HPD_RANKING,
        MOS,
        RICH_FEEDBACK,
        SIDE_BY_SIDE,
    )
}
