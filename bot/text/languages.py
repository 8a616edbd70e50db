"""The language of a text, as far as its commonest words tell: for texts that nobody labelled.

The bot speaks six languages and must know which of them a question or an answer is in. Function
words tell them apart from the first sentence on, at no cost and without a model of language. Words of
neighbouring languages count as well, so that Italian is not taken for Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from bot.text.code_blocks import FENCED, SPAN
from bot.text.translation import spoken_locale

_WORDS = {
    "en": "a about all an and are as at be but by can compare could did do does for from had has "
    "have hello how i if in into is it its last list make many me more much my next no not of "
    "on or our please remind should show summarise summarize tell than thanks that the their "
    "there these they this to was we were what when where which who why with would yes you "
    "your",
    "de": "aber alle als am an auch auf aus bei bitte danke das dem den der des die diese dieser "
    "dieses du durch ein eine einem einen einer er erinnere es euch fasse für gibt haben "
    "hallo hat heute ich ihr im in insgesamt ist ja je jeden kein keine mehr mich mir mit "
    "morgen nach nein nicht noch nur oder schon sich sie sind um und uns unter vergleiche "
    "viel viele vom von wann war waren warum was welche welcher welches wer werden wie wir "
    "wird wo wurde wurden zeig zeige zu zum zur zusammen über",
    "fr": "a au aujourd aussi autres aux avec avoir bonjour ce ces cette chaque chez combien "
    "comment dans de demain depuis dernier dernière des deux du elle elles en entre est et "
    "fait hier il ils je jusqu la le les leur leurs ma mais merci mes moi moins mon ne non "
    "nos notre nous on ont ou oui où par pas plus pour pourquoi quand que quel quelle quelles "
    "quels qui quoi rappelle résume sa sans se sera ses son sont sur très tu un une vos votre "
    "vous y étaient était été être",
    "es": "a al alguien aquí así cada como con cuando cuál cuáles cuándo cuánta cuántas cuánto cuántos cómo de "
    "del dime donde dónde el ellos en entre era eran es esa ese eso esos esta estas este esto estos está "
    "están fue fueron gracias ha hace han hasta hay hilo hola hoy la las le les lo los mañana "
    "me mejor menos mi mientras muestra muy más nada nadie ni no o otra otro para pero por puede pueden "
    "puedes puedo que quien quién qué recuérdame resume resumen se según si sin sobre solo "
    "son su sus sí también tengo tu un una unas unos viene y ya última último",
    "pt": "a ainda amanhã ao aos aqui as até cada com como conversa da das de diga do dos e em "
    "entre era eram esta este está estão faz foi foram hoje há isso isto já lembre mais mas "
    "me melhor menos mostre muito na nada nas nem no nos não o obrigada obrigado olá onde os "
    "ou outra outro para pela pelo pode podem por posso quais qual quando quanta quantas "
    "quanto quantos que quem resuma resumo se sem seu seus sim sobre sua suas são só também "
    "tem têm um uma umas uns vem você à às é última último",
    # Not spoken: their words only keep them from being taken for another language.
    "it": "al alla anche che chi ciao come con da dal dalla dei del della delle di dove e era gli "
    "grazie ha hanno il in la le lo nel nella non per più quale quali quando quanti quanto "
    "questa questo si sono su un una uno è",
    "nl": "aan alle als bij dat de die dit door een en er geen het hoe hoeveel ik in is je maar met "
    "naar niet of om ook op over te uit van voor waar wanneer waren was wat we welke wie "
    "worden wordt ze zijn",
    "sv": "alla att av de den det detta eller en ett från för har hur i inte med men när och om på "
    "som så till vad var vilka vilken är",
    "da": "af alle at de den det dette eller en er et for fra har hvad hvilke hvor hvordan i ikke "
    "mange med men når og om på som til var",
    "pl": "był było co czy dla do i ile jak jest która który na nie o od oraz po przez się są to w "
    "z że",
    "ca": "a amb aquest aquesta com de del dels el els era ha hi i la les molt més no o on per però "
    "quan quants que qui quin quina què sense són també un una és",
}
_USUAL = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_SPOKEN = ("en", "de", "fr", "es", "pt", "ja")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LETTERS = {"de": "ß", "es": "ñ¿¡", "pt": "ãõ", "fr": "œùî"}
"""Letters that only one of the spoken languages has."""
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’](?=\w)", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_NO_PROSE = re.compile(
    rf"{FENCED}|{SPAN}|"
    r"https?://\S+|<[^<>\s]+>|\{\{[^{}]*\}\}|\S{1,64}@\S{1,64}",
    re.DOTALL | re.MULTILINE,
)
_LONGEST = 4_000  # characters: enough to tell
_HOME = {"en": "en-US", "de": "de-DE", "fr": "fr-FR", "es": "es-ES", "pt": "pt-BR", "ja": "ja-JP"}
"""How Slack names the locale of a language that is not the reader's."""


def locale_for(texts: Iterable[str], *, reader: str) -> str:
    """Return the locale of the first of these texts whose language is plain and one that the bot speaks,
    else that of the reader. In the reader's own language, their regional format counts."""
    own = _language(reader)
    for text in texts:
        if language := language_in(text, own if spoken_locale(reader) == reader else ""):
            return reader if language == own else _HOME[language]
    return reader


def language_in(text: str, likely: str = "") -> str:
    """Return the language of a text, such as "de", if it is plain and the bot speaks it; else "".

    Of two that fit equally well the `likely` one is taken. Code and addresses do not count.
    """
    prose = _NO_PROSE.sub(" ", text[: 2 * _LONGEST])[:_LONGEST]
    if _KANA.search(prose):
        return "ja"
    words = [word.casefold() for word in _WORD.findall(prose)]
    hits = {name: sum(word in usual for word in words) for name, usual in _USUAL.items()}
    for name, letters in _LETTERS.items():
        hits[name] += sum(letter in prose.lower() for letter in letters)
    hits["fr"] += len(_ELISION.findall(prose))
    most = max(hits.values())
    best = [name for name, count in hits.items() if count == most]
    if not most:
        return ""
    if len(best) > 1:
        return likely if likely in best else ""
    # One common word may be a name, or a loan.
    others = sum(count for name, count in hits.items() if name != best[0])
    is_plain = most > 1 or not others
    return best[0] if is_plain and best[0] in _SPOKEN else ""


def _language(locale: str) -> str:
    return locale.partition("-")[0].lower()
