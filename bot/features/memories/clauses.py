"""Whether words are whole clauses of what a person wrote, so that they say what the person meant.

Words out of the middle of a sentence may mean the opposite ("do not ever …"), and words that are quoted,
struck out or code are somebody else's. What is doubtful is not theirs.
"""

from __future__ import annotations

import re
from itertools import islice

from bot.text.code_blocks import FENCED, SPAN
from bot.text.invisible_text import exact

_GONE = "\ufffc"
_MOST_PLACES = 20  # at which the words may stand: more would take long
_NOT_OWN = re.compile(
    rf"{FENCED}|{SPAN}|"
    r"^[ \t]*>>>.*|^[ \t]*>[^\n]*|(?<!\w)~[^~\s](?:[^~\n]*[^~\s])?~(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_QUOTED = re.compile(
    r"\"[^\"\n]{0,500}\"|“[^”\n]{0,500}”|„[^“”\n]{0,500}[“”]|«[^»\n]{0,500}»|「[^」\n]{0,500}」|『[^』\n]{0,500}』"
)
_INNER_END = re.compile(r"[.!?:;。！？：；…]")

_POLITE = (
    r"please|thanks|thank you|bitte|danke|s['’]il (?:te|vous) pla[iî]t|merci(?: de)?|por favor|gracias"
    r"|obrigad[oa]|お願いします|どうか"
)
_FROM_NOW = (
    r"from now on|in (?:the )?future|going forward|for next time"
    r"|ab (?:jetzt|sofort)|künftig|in zukunft|désormais|dorénavant|à partir de maintenant|à l['’]avenir"
    r"|(?:de ahora|de agora) (?:en adelante|em diante)|a partir de (?:ahora|agora)|en el futuro|no futuro"
    r"|daqui em diante|今後は?|これからは?|次から(?:は)?"
)
_OPENING = (
    r"h(?:i|ello|ey|allo)|ok(?:ay)?|also|and|so|p\.?s\.?|note|und|et|y|e|(?:can|could|would|will) you"
    r"|i(?: want|['’]d like| would like) you to|(?:kannst|könntest) du|(?:können|könnten) sie"
    r"|(?:peux|pourrais)-tu|(?:pouvez|pourriez)-vous|pued(?:es|e)|podrías?|pod(?:es?|erias?)"
)
_REMEMBER = (
    r"(?:remember|keep in mind|bear in mind|note|memori[sz]e|(?:don['’]t|do not) forget|make a note)"
    r"(?: this| for me)?(?: that)?"
    r"|(?:merke? dir|merken sie sich|denke? daran|behalte(?: im kopf)?|vergiss nicht|notiere? dir)"
    r"(?: bitte)?(?: das)?,?(?: dass)?"
    r"|(?:souviens-toi|souvenez-vous|rappelle-toi|retiens|retenez|notez?(?: bien)?|mémorise[zr]?"
    r"|n['’]oublie[sz]? pas)(?: que\b| qu['’])?"
    r"|(?:recuerd[ae]|ten(?:ga)? en cuenta|guarda|anota|apunta|no olvides|acuérdate(?: de)?)(?: que)?"
    r"|(?:lembr[ea](?:-se|-te)?(?: de)?|tenha em mente|guarde|anote|memoriz[ae]|não (?:se )?esqueça(?: de)?)"
    r"(?: que)?"
    r"|(?:覚えて(?:おいて)?|記憶して(?:おいて)?|メモして(?:おいて)?)(?:ください|下さい|ね)?"
)
_BULLET = re.compile(r"[\s\-*•–_\d.)]*")
_LEAD = re.compile(  # one piece of what may stand before the words in their sentence
    rf"(?:{_REMEMBER}|{_FROM_NOW}|{_POLITE}|{_OPENING})(?!\w)[\s,、:：\"“„«「*_–-]*"
    rf"|(?:{_REMEMBER}|{_FROM_NOW})(?<=['’はら後てい])"
)
_AFTER_REMEMBER = re.compile(  # or the end of it
    rf"(?:^|[,;、]\s*|\s(?:and|und|et|y|e|but|aber|mais|pero|mas)\s+)(?:(?:{_POLITE})\s*,?\s*)?"
    rf"(?:{_REMEMBER})[\s,、:：\"“„«「*_–-]*\Z"
)
_END = re.compile(
    rf"[\"”“»」*_]*(?:\Z|\s*\n|[.!?;…。！？；]|\s*[:;]-?[)(DP]|\s*:\w+:|\s*[^\w\s\"'’,、:;.{_GONE}-]"
    rf"|\s*[,、]?\s*(?:{_POLITE}|{_FROM_NOW}|{_REMEMBER}|してください|して下さい|でお願いします"
    r"|(?:だ|です)?(?:と|って|ことを|のを)(?:覚え|記憶)て\w*|and|und|et|y|e)(?!\w))"
)
_SENTENCE_END = re.compile(r"\n|(?<![.!?;\s])(?<!\b\w)[.!?;]{1,9}[\"”“»)*_]{0,5}\s|[。！？；]")


def has_clauses(text: str, words: str) -> bool:
    """Return whether `words`, in one line, are whole clauses that the writer of `text` meant."""
    own = _NOT_OWN.sub(_GONE, exact(text)).casefold()
    own = _QUOTED.sub(lambda quoted: _INNER_END.sub(_GONE, quoted[0]), own)
    bare = exact(words).casefold().strip(' .!?。！？"“”„«»「」*_-')
    if not bare:
        return False
    spaced = r"\s+".join(map(re.escape, bare.split()))
    return any(
        _begins(own[: match.start()]) and _END.match(own, match.end())
        for match in islice(re.finditer(spaced, own), _MOST_PLACES)
    )


def _begins(before: str) -> bool:
    """Return whether a clause of the writer's begins after these words."""
    sentence = _SENTENCE_END.split(before)[-1]
    bullet = _BULLET.match(sentence)
    end = bullet.end() if bullet else 0
    while (lead := _LEAD.match(sentence, end)) is not None:
        end = lead.end()
    return end == len(sentence) or _AFTER_REMEMBER.search(sentence) is not None
