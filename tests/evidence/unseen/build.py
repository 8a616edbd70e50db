"""Fill the texts of marked figures in: `python -m tests.evidence.unseen.build SOURCE…` writes answers.yaml.

The sources are answers whose marks have no text yet, `[[q1[Asia].pop|n0]]`, and whose references name a
call, `{{q1.pop[continent=Asia]}}`.
"""
import json, re, sys
from pathlib import Path
import yaml
from tests.evidence.unseen.markup import CELL, World, written, MARK

HERE = Path(__file__).parent
outputs = json.loads((HERE/"outputs.json").read_text())
SRC = re.compile(r"\[\[((?:[^|\[\]]|\[[^\]]*\])*)\|([^|\]]*)\]\]")
problems = []

def fill(text, world, lang, where):
    def figure(m):
        try:
            return f"[[{written(world.value(m[1]), m[2], lang)}|{m[1]}|{m[2]}]]"
        except Exception as e:
            problems.append(f"{where}: {m[0]}: {type(e).__name__} {e}")
            return m[0]
    text = SRC.sub(figure, text)
    def ref(m):
        hs = world.entries[int(m[1])]["handles"]
        if not hs: problems.append(f"{where}: no handle {m[0]}"); return m[0]
        return "{{" + hs[1 if m[2] else 0] + "."
    return re.sub(r"\{\{q(\d+)(b?)\.", ref, text)

def walk(v, f):
    if isinstance(v, str): return f(v)
    if isinstance(v, list): return [walk(x, f) for x in v]
    if isinstance(v, dict): return {k: walk(x, f) for k, x in v.items()}
    return v

NAMES = {"s": "summary", "k": "key_points", "t": "table", "src": "sources", "g": "gaps", "f": "follow_ups"}
SUPPORTS = {"en": "The figures.", "de": "Die Zahlen.", "fr": "Les chiffres.", "es": "Las cifras.", "pt": "Os números.", "ja": "数値の出典"}
answers = []
count = {}
for path in sys.argv[1:]:
    for a in yaml.safe_load(Path(path).read_text()):
        lang = a["l"]; world = World(outputs[a["w"]])
        n = count[(a["w"], lang)] = count.get((a["w"], lang), 0) + 1
        ident = f"{a['w']}-{lang}" + (f"-{n}" if n > 1 else "")
        body = {}
        for k, v in a.items():
            if k in NAMES: body[NAMES[k]] = walk(v, lambda t: fill(t, world, lang, ident))
        if "table" in body:
            t = body["table"]; body["table"] = {"caption": t[0], "columns": t[1], "rows": t[2:]}
            for r in t[2:]:
                if len(r) != len(t[1]): problems.append(f"{ident}: row length {r}")
        srcs = []
        for s in body.get("sources", []):
            if isinstance(s, str): s = {"title": s}
            s.setdefault("supports", SUPPORTS[lang])
            srcs.append(s)
        if srcs: body["sources"] = srcs
        out = {"id": ident, "world": a["w"], "language": lang, "question": a["q"]}
        if a.get("files"): out["files"] = a["files"]
        out["answer"] = body
        answers.append(out)
print(len(answers), "answers;", len(problems), "problems"); print("\n".join(problems))
from collections import Counter
print(Counter(a["language"] for a in answers))
(HERE/"answers.yaml").write_text(yaml.safe_dump(answers, allow_unicode=True, sort_keys=False, width=110))
