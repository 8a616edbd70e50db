"""Text that only announces work, as models write it before they forget to do the work."""

from __future__ import annotations

import re

_LONGEST = 240  # characters

_BEGINS = re.compile(
    r"""(?ix) ^\W* (?: (?:ok(?:ay)?|sure|of\ course|certainly|great|natürlich|gerne|klar|bien\ sûr|d'accord
        |claro|por\ supuesto|certo|はい|承知しました|かしこまりました)\W+ )? (?:
      let\ me\b | i(?:'|’)?ll\b | i\ will\b | i(?:'|’)?m\ (?:going\ to|checking|looking)\b
      | i\ am\ going\ to\b | one\ moment | give\ me\ a
    | ich\ (?:werde|schaue|sehe\ (?:mir|nach)|prüfe|suche|lese|rechne) | lass(?:en\ sie)?\ mich
      | (?:einen|ein)\ (?:moment|augenblick)
    | je\ (?:vais|regarde|vérifie|cherche|consulte) | laisse[zs]?[-\ ]moi | un\ (?:instant|moment)
    | voy\ a | d[ée]j(?:a|e)me | perm[ií]t(?:a|e)me | un\ momento
    | vou\b | deix(?:a|e)-?\ ?me | um\ (?:momento|instante)
    | 少々お待ち | (?:それでは|では)?[、\s]*(?:確認|調査|検索|計算)(?:します|いたします|してみます) | 調べます
    )"""
)


def announces_work(text: str) -> bool:
    """Return whether a text says what will be done and nothing else: short, without figures, a list or
    a question, and it begins in the first person. A wrong guess costs one more call."""
    words = text.strip()
    if len(words) > _LONGEST or "\n" in words or re.search(r"[0-9?？]", words):
        return False
    return bool(_BEGINS.match(words)) or bool(
        re.search(r"(?:確認|調査|検索|計算)(?:します|いたします)。?$|お待ちください。?$", words)
    )
