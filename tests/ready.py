"""Scripts in fresh processes that need not import the large packages: each is forked from a process
that has imported them and done nothing else.
"""

import contextlib
import io
import os
import pickle
import runpy
import subprocess
import sys
import tempfile
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

# what takes seconds to import, and every notebook and script would import again
_PRELOAD = [
    "execnb.nbio",
    "execnb.shell",
    "nbdev.process",
    "nbdev.showdoc",
    "fastcore.test",
    "matplotlib.pyplot",
    "matplotlib_inline.backend_inline",
    "pandas",
    "ppdt.cli",
    "ppdt.contest",
    "scipy.stats",
    "sklearn.ensemble",
    "sklearn.pipeline",
]


def context():
    """Fresh processes; where they can be forked, from one that has imported the large packages"""
    try:
        ctx = get_context("forkserver")
    except ValueError:
        return get_context("spawn")
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
    ctx.set_forkserver_preload(_PRELOAD)
    return ctx


def pool(at_once):
    """Where functions are run, each call in a process of its own"""
    return ProcessPoolExecutor(at_once, mp_context=context(), max_tasks_per_child=1)


def _main(words):
    """A script, or code after -c, as the main program of this process: its exit code"""
    at = 1 if words[0] == "-c" else 0
    sys.argv = ["-c", *words[2:]] if at else list(words)
    try:
        if at:
            exec(compile(words[1], "<string>", "exec"), {"__name__": "__main__"})
        else:
            sys.path.insert(0, os.path.dirname(os.path.abspath(words[0])))
            runpy.run_path(words[0], run_name="__main__")
    except SystemExit as e:
        if e.code is None or isinstance(e.code, int):
            return e.code or 0
        print(e.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _ran(words):
    """Run it here, with what it prints kept"""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = _main(words)
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def _forked(words):
    """The same in a process forked from this one"""
    with tempfile.TemporaryFile() as told:
        pid = os.fork()
        if not pid:
            pickle.dump(_ran(words), told)
            told.flush()
            os._exit(0)
        os.waitpid(pid, 0)
        told.seek(0)
        return pickle.load(told)


def _with_workers(words):
    """Run it here; scripts that it starts with this Python are forked from it"""
    real = subprocess.run

    def run(command, **options):
        ours = str(command[0]) == sys.executable and command[1] != "-m" and hasattr(os, "fork")
        return _forked([str(o) for o in command[1:]]) if ours else real(command, **options)

    subprocess.run = run
    return _ran(words)


def script(ex, *words):
    """What `subprocess.run([sys.executable, *words])` gives, from a process of the pool `ex`"""
    return ex.submit(_with_workers, [str(o) for o in words]).result(timeout=300)


def _command(words, cwd, env, streams):
    """The command as the main program of this process, which reads and writes these files"""
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0)), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.stdin = open(0, closefd=False)
    sys.argv = ["ppdt", *words]
    from ppdt.engine.program import program

    sys.exit(program())


def command(*words, cwd=None, data=b"", text=True):
    """What `subprocess.run` gives of `python -m ppdt.cli`, from a process that need not import the
    large packages
    """
    env = {o: v for o, v in os.environ.items() if o not in ("PPDT_DEBUG", "COLUMNS")}
    words = [str(o) for o in words]
    with tempfile.TemporaryDirectory() as folder:
        streams = [os.path.join(folder, o) for o in ("in", "out", "err")]
        for path, content in zip(streams, (data, b"", b"")):
            with open(path, "wb") as f:
                f.write(content)
        args = (words, os.fspath(cwd or os.getcwd()), env, streams)
        process = context().Process(target=_command, args=args)
        process.start()
        process.join(300)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"ppdt {' '.join(words)}")
        told = []
        for path in streams[1:]:
            with open(path, "rb") as f:
                told.append(f.read())
    if text:
        told = [o.decode().replace(os.linesep, "\n") for o in told]
    return subprocess.CompletedProcess(words, process.exitcode, *told)
