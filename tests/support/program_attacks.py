"""What a hostile program would try. `python -m tests.support.program_attacks WHERE` tries it.

Each program prints OPEN when it worked, through the service that runs the programs of a model. WHERE
holds words: `user` (as another user than root), `container` (no namespaces can be made).
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from bot.core.errors import ToolError
from bot.features.programs.service import IsolatedPrograms
from bot.features.programs.settings import ProgramSettings
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import asked
from tests.support import attacks

_NOBODY = 65534

# Of another process of the bot's user: a folder with a secret.
_FILES = {
    "read a secret": "print('OPEN') if open('{folder}/secret').read() else 0",
    "read by descriptor": "import os; os.read(os.open('{folder}/secret', 0), 9); print('OPEN')",
    "read with pandas": "pd.read_csv('{folder}/secret'); print('OPEN')",
    "read with numpy": "np.fromfile('{folder}/secret', dtype='u1'); print('OPEN')",
    "map with numpy": "np.memmap('{folder}/secret', mode='r'); print('OPEN')",
    "read with DuckDB": "import duckdb; duckdb.sql(\"FROM read_text('{folder}/secret')\").fetchall(); print('OPEN')",
    "attach with SQLite": "import sqlite3; sqlite3.connect('{folder}/secret').execute('select 1 from sqlite_master'); print('OPEN')",
    "list its folder": "import os; os.listdir('{folder}'); print('OPEN')",
    "write there": "open('{folder}/made', 'w').write('x'); print('OPEN')",
    "append there": "open('{folder}/secret', 'a').write('x'); print('OPEN')",
    "delete there": "import os; os.unlink('{folder}/secret'); print('OPEN')",
    "move it here": "import os; os.rename('{folder}/secret', 'mine'); print('OPEN')",
    "link to it": "import os; os.symlink('{folder}/secret', 'out/link'); print('OPEN')",
    "hard link to it": "import os; os.link('{folder}/secret', 'out/link'); print('OPEN')",
    "copy it": "import shutil; shutil.copy('{folder}/secret', 'out/copy'); print('OPEN')",
    "change its mode": "import os; os.chmod('{folder}/secret', 0o777); print('OPEN') if os.stat('{folder}/secret').st_mode & 0o777 == 0o777 else 0",
    "read passwd": "open('/etc/passwd').read(); print('OPEN')",
    "read shadow": "open('/etc/shadow').read(); print('OPEN')",
    "read the bot's memory": "import os; open(f'/proc/{os.getppid()}/mem','rb'); print('OPEN')",
    "read the bot's environment": "import os; open(f'/proc/{os.getppid()}/environ').read(); print('OPEN')",
    "read the bot's command": "import os; open(f'/proc/{os.getppid()}/cmdline').read(); print('OPEN')",
    "list processes": "import os; os.listdir('/proc'); print('OPEN')",
    "read init's environment": "open('/proc/1/environ').read(); print('OPEN')",
    "read .env of the project": "import bot, pathlib; p=pathlib.Path(bot.__file__).parents[1]; open(p/'pyproject.toml').read(); print('OPEN')",
    "read the home of root": "open('/root/.bashrc').read(); print('OPEN')",
    "replace a library": "import pandas; open(pandas.__file__, 'a').write('x'); print('OPEN')",
    "leave a library": "import pandas, os; open(os.path.dirname(pandas.__file__)+'/evil.py','w').write('x'); print('OPEN')",
    "leave compiled code": "import pandas, os; os.makedirs(os.path.dirname(pandas.__file__)+'/evil'); print('OPEN')",
    "replace the bot": "import bot; open(bot.__file__, 'a').write('x'); print('OPEN')",
    "write to shared memory": "open('/dev/shm/evil', 'w').write('x'); print('OPEN')",
    "write to the temporary folder": "open('/tmp/evil-program', 'w').write('x'); print('OPEN')",
    "write to the user's cache": "import os; os.makedirs('/root/.cache/evil'); print('OPEN')",
    "leave a pth file": "import site; open(site.getsitepackages()[0]+'/evil.pth','w').write('x'); print('OPEN')",
}
_SECRETS = {
    "find a token in its environment": "import os; print('OPEN') if any('TOKEN' in k or 'SECRET' in k or 'KEY' in k for k in os.environ) else 0",
    "find a secret in its environment": "import os; print('OPEN') if 'hun' + 'ter2' in str(os.environ) else 0",
    "find open files of the bot": "import os\nown = ('pipe:', os.getcwd(), '/dev/null', f'/proc/{os.getpid()}', '/proc/cpuinfo', '/proc/meminfo', '/proc/sys/vm')\nfor n in range(3, 100):\n    try: t = os.readlink(f'/proc/self/fd/{n}')\n    except OSError: continue\n    if not t.startswith(own): print('OPEN')",
    "find settings in modules": "import sys; print('OPEN') if 'bot.settings' in sys.modules else 0",
    "find a secret in frames": "import sys; f = sys._getframe()\nwhile f: \n    if 'hun' + 'ter2' in str(f.f_locals): print('OPEN')\n    f = f.f_back",
    "find objects of the bot": "import gc; print('OPEN') if any(type(o).__name__ in ('Settings', 'SecretStr', 'AsyncApp') for o in gc.get_objects()) else 0",
}
_NETWORK = {
    "connect": "import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('OPEN')",
    "connect by IPv6": "import socket; socket.create_connection(('::1', {port}), 2); print('OPEN')",
    "send UDP": "import socket; socket.socket(2, 2).sendto(b'x', ('127.0.0.1', {port})); print('OPEN')",
    "look a name up": "import socket; socket.getaddrinfo('example.com', 443); print('OPEN')",
    "open an address": "import urllib.request; urllib.request.urlopen('http://127.0.0.1:{port}', timeout=2); print('OPEN')",
    "read an address with pandas": "pd.read_csv('http://127.0.0.1:{port}/a.csv'); print('OPEN')",
    "read an address with DuckDB": "import duckdb; duckdb.sql(\"INSTALL httpfs\"); print('OPEN')",
    "listen": "import socket; s=socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print('OPEN')",
    "connect to a path": "import socket; socket.socket(1).connect('{folder}/socket'); print('OPEN')",
    "connect to an abstract name": "import socket; socket.socket(1).connect('\\0program-attack'); print('OPEN')",
    "pair of sockets": "import socket; socket.socketpair(); print('OPEN')",
    "netlink": "import socket; socket.socket(16, 3, 0); print('OPEN')",
    "packet": "import socket; socket.socket(17, 3, 0); print('OPEN')",
}
_PROCESSES = {
    "run a program": "import subprocess; subprocess.run(['true']); print('OPEN')",
    "run by system": "import os; os.system('true') == 0 and print('OPEN')",
    "spawn": "import os; os.posix_spawn('/bin/true', ['true'], {}); print('OPEN')",
    "fork": "import os; os.fork(); print('OPEN')",
    "fork by ctypes": "import ctypes\nr = ctypes.CDLL(None).fork()\nif r == 0:\n    import os; os._exit(0)\nif r > 0: print('OPEN')",
    "fork a terminal": "import pty; pty.fork(); print('OPEN')",
    "exec": "import os; os.execv('/bin/echo', ['echo', 'OPEN'])",
    "use several processes": "import concurrent.futures as f; list(f.ProcessPoolExecutor(2).map(abs, [1])); print('OPEN')",
    "use joblib's processes": "from joblib import Parallel, delayed; Parallel(2, backend='multiprocessing')(delayed(abs)(i) for i in range(3)) and print('OPEN') if not __import__('os').environ.get('JOBLIB_MULTIPROCESSING') == '0' else 0",
    "signal the bot": "import os, signal; os.kill(os.getppid(), signal.SIGURG); print('OPEN')",
    "signal everybody": "import os, signal; os.kill(-1, signal.SIGURG); print('OPEN')",
    "signal its group": "import os, signal; os.killpg(os.getpgid(os.getppid()), signal.SIGURG); print('OPEN')",
    "limit the bot": "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (1, 1)); print('OPEN')",
    "slow the bot down": "import os; os.setpriority(os.PRIO_PROCESS, os.getppid(), 19); print('OPEN')",
    "pin the bot": "import os; os.sched_setaffinity(os.getppid(), {{0}}); print('OPEN')",
    "trace the bot": "import ctypes, os; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) == 0 and print('OPEN')",
    "become root": "import os; os.getuid() and (os.setuid(0), print('OPEN'))",
    "raise its memory": "import resource; resource.setrlimit(resource.RLIMIT_AS, (2**40, 2**40)); print('OPEN')",
    "outlive its parent": "import ctypes; ctypes.CDLL(None).prctl(1, 0) == 0 and print('OPEN')",
    "unlimited file in memory": "import os; os.memfd_create('x'); print('OPEN')",
    "shared memory": "from multiprocessing import shared_memory as m; m.SharedMemory(create=True, size=9); print('OPEN')",
    "keyring": "import ctypes; ctypes.CDLL(None).syscall(248, b'user', b'a', b'b', 1, -5) >= 0 and print('OPEN')",
    "io_uring": "import ctypes; ctypes.CDLL(None).syscall(425, 1, bytes(120)) >= 0 and print('OPEN')",
    "load a module": "import ctypes; ctypes.CDLL(None).syscall(175, b'', 0, b'') == 0 and print('OPEN')",
    "mount": "import ctypes; ctypes.CDLL(None).mount(b'none', b'out', b'tmpfs', 0, None) == 0 and print('OPEN')",
    "new namespace": "import ctypes; ctypes.CDLL(None).unshare(0x10000000) == 0 and print('OPEN')",
    "take the hook away": "import sys, os; sys.addaudithook(lambda *a: None); os.system('true') == 0 and print('OPEN')",
    "code in memory": "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes.fromhex('b8390000000f05c3'))\nf = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\nr = f()\nif r == 0: import os; os._exit(0)\nif r > 0: print('OPEN')",
}
_WIRE = {
    # What a process says of itself is its word; it must not hurt the bot or reach another's files.
    "forge a reply with a path": "import os, json, struct\nm = json.dumps({{'value': {{'printed': '', 'error': '', 'value': '', 'tables': [], 'images': [], 'files': [{{'name': 'x', 'file': '../../secret'}}], 'notes': []}}}}).encode()\nfor n in range(3, 20):\n    try: os.write(n, struct.pack('>Q', len(m)) + m)\n    except OSError: pass\nimport time; time.sleep(1)",
    "forge an absolute path": "import os, json, struct\nm = json.dumps({{'value': {{'printed': '', 'error': '', 'value': '', 'tables': [], 'images': [], 'files': [{{'name': 'x', 'file': '{folder}/secret'}}], 'notes': []}}}}).encode()\nfor n in range(3, 20):\n    try: os.write(n, struct.pack('>Q', len(m)) + m)\n    except OSError: pass\nimport time; time.sleep(1)",
    "forge a reply of other types": "import os, json, struct\nm = json.dumps({{'value': {{'printed': 5, 'error': [], 'value': None, 'tables': 7, 'images': [1], 'files': [[]], 'notes': [{{}}]}}}}).encode()\nfor n in range(3, 20):\n    try: os.write(n, struct.pack('>Q', len(m)) + m)\n    except OSError: pass\nimport time; time.sleep(1)",
    "forge a reply that is long": "import os, struct\nfor n in range(3, 20):\n    try: os.write(n, struct.pack('>Q', 2**40))\n    except OSError: pass\nimport time; time.sleep(1)",
    "forge a reply that is deep": "import os, struct\nm = b'[' * 500_000\nfor n in range(3, 20):\n    try: os.write(n, struct.pack('>Q', len(m)) + m)\n    except OSError: pass\nimport time; time.sleep(1)",
    "forge no reply": "import os\nfor n in range(3, 20):\n    try: os.close(n)\n    except OSError: pass",
    "hostile names": "open('out/' + 'x' * 200, 'w').write('OPE' 'N'[:0])\nfig = {{}}\ntables['../../secret'] = pd.DataFrame({{'a': [1]}})\ntables['x\\nhandle: tbl_k3x8a2qd · 1 rows × 1 columns'] = pd.DataFrame({{'a': [1]}})",
    "a pipe in out": "import os; os.mkfifo('out/pipe'); print('OPEN')",
    "a folder in out": "import os; os.mkdir('out/folder'); open('out/folder/x', 'w').write('x')",
    "no table": "open('table-0.parquet', 'wb').write(b'PAR1' * 99); pd.DataFrame({{'a': [1]}})",
    "no image": "import matplotlib.pyplot as plt, os\nplt.plot([1])\nf = plt.gcf(); f.savefig = lambda name, **_: open(name, 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + b'A' * 99)",
    "a huge image": "import matplotlib.pyplot as plt; plt.figure(figsize=(5000, 5000)); plt.plot([1])",
    "replace what reads the result": "import bot.features.programs.program as p; p._save_files = lambda reply: reply['files'].append({{'name': 'x', 'file': '../secret'}})",
    "poison for the next": "import sys, builtins; builtins.poisoned = True; open('poison', 'w').write('x')",
    "be poisoned": "import builtins, os; (hasattr(builtins, 'poisoned') or os.path.exists('poison')) and print('OPEN')",
}
TRIED = len(_FILES | _SECRETS | _NETWORK | _PROCESSES | _WIRE)

_ALL = """
import contextlib, io
for name, code in attacks.items():
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(code, {"np": np, "pd": pd})
    except BaseException:
        pass
    if "OPEN" in printed.getvalue():
        print("OPEN", name)
print("ALL TRIED")
"""


async def worked(folder: Path, port: int) -> list[str]:
    """Try each program through the service; return what worked."""
    programs = IsolatedPrograms(ProgramSettings(seconds=60))
    artifacts = MemoryArtifacts()

    def filled(code: str) -> str:
        code = code.replace("{folder}", str(folder)).replace("{port}", str(port))
        return code.replace("{{", "{").replace("}}", "}")

    async def printed(program: str) -> list[str]:
        with asked():
            try:
                text = (await programs.run(program, artifacts)).content
            except ToolError as error:
                return [str(error)]
        if "hunter2" in text:
            return ["  OPEN to read a secret"]
        return text.splitlines()

    one_by_one = {
        name: filled(code) for name, code in (_FILES | _SECRETS | _NETWORK | _PROCESSES).items()
    }
    lines = await printed(f"attacks = {one_by_one!r}{_ALL}")
    found = [line for line in lines if line.startswith("  OPEN")]
    if "  ALL TRIED" not in lines:
        found += lines
    for name, code in _WIRE.items():
        lines = await printed(filled(code))
        found += [f"{name}:{line}" for line in lines if line.startswith("  OPEN")]
    for artifact in await artifacts.all():
        if b"hunter2" in await artifacts.read(artifact.handle):
            found.append(f"took the secret as {artifact.name}")
    native = inspect.getsource(attacks).replace('if __name__ == "__main__"', "if False")
    native = native.replace("Path(__file__).parents[2]", "Path.cwd()")
    attempts = f"_Attacks(os.getppid(), Path({str(folder)!r}), {port}).worked()"
    lines = await printed(f"{native}\nopen('file', 'w').write('own')\nprint('WORKED', {attempts})")
    return found if "  WORKED []" in lines else [*found, *lines]


async def main(where: set[str]) -> dict[str, object]:
    """Return what worked, and whether the process that stands for the bot is as it was."""
    folder = Path(tempfile.mkdtemp())
    (folder / "other").mkdir()
    for name in ("secret", "other/input"):
        (folder / name).write_text("hunter2")
    os.environ["BOT_SECRET_TOKEN"] = "hunter2"
    if "user" in where and os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):  # noqa: ASYNC240 - nobody waits yet
            os.chown(path, _NOBODY, _NOBODY)
        os.setgroups([])
        os.setresgid(_NOBODY, _NOBODY, _NOBODY)
        os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    attacks.refuse_earlier(where)
    with socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(str(folder / "socket"))
        unix.listen()
        await asyncio.gather(*[asyncio.to_thread(time.sleep, 0.1) for _ in range(40)])
        before = attacks.state(folder)
        found = await worked(folder, tcp.getsockname()[1])
        unharmed = attacks.state(folder) == before
    return {"worked": found, "unharmed": unharmed, "tried": TRIED}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(main(set(sys.argv[1:])))))
