"""Breaks command-line tools on purpose: `python shell.py breaks/shell.txt OUT.jsonl`.

A line names the system, what is broken (labels.toml) and the command. It runs in a folder of its
own; a tool that is not installed, or a command that fails to fail, is left out and listed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from base64 import b64decode
from pathlib import Path

from rows import Rows

FILES = {
    "a.txt": "hello\nworld\n",
    "b.txt": "hello\n",
    "a.py": "x = 1\n",
    "subdir/x": "",
    "data.csv": "x,y\n1,2\n",
    "good.json": '{"a": 1}',
    "bad.json": '{"a": [,]}',
    "good.yaml": "a: 1\n",
    "bad.yaml": "a: [1\nb: }\n",
    "latin1.txt": "caf\udce9\n",
    "bad.py": "def f(:\n",
    "bad.c": "int main( { }\n",
    "good.c": "int main(void){return 0;}\n",
    "undef.c": "int main(void){return nosuchvar;}\n",
    "types.c": "int main(void){int *p = 5.5; return 0;}\n",
    "args.c": "int f(int a,int b){return a+b;}\nint main(void){return f(1);}\n",
    "bad.f90": "program p\n integer :: i = = 3\nend program\n",
    "undef.f90": "program p\n implicit none\n print *, nosuchvar\nend program\n",
    "types.f90": "program p\n integer :: i\n i = 'abc'\nend program\n",
    "good.f90": "program p\nend program\n",
    "bad.pas": "program p;\nbegin\n x := ;\nend.\n",
    "undef.pas": "program p;\nbegin\n writeln(nosuchvar);\nend.\n",
    "types.pas": "program p;\nvar i: integer;\nbegin\n i := 'abc';\nend.\n",
    "bad.d": "void main( { }\n",
    "undef.d": "void main(){ nosuchfn(); }\n",
    "types.d": 'void main(){ int x = "a"; }\n',
    "bad.vala": "void main( { }\n",
    "undef.vala": "void main(){ nosuchfn(); }\n",
    "types.vala": 'void main(){ int x = "a"; }\n',
    "bad.rs": "fn main( { }",
    "undef.rs": "fn main(){ nosuch(); }",
    "types.rs": 'fn main(){ let x:i32="a"; }',
    "good.rs": "fn main(){}",
    "args.rs": "fn f(a:i32,b:i32)->i32{a+b}\nfn main(){ f(1); }",
    "bad.ts": "let x = ;",
    "undef.ts": "console.log(nosuchvar);export{}",
    "types.ts": 'let x: number = "a";export{}',
    "good.ts": "export{}",
    "args.ts": "function f(a:number,b:number){return a+b}\nf(1);export{}",
    "extra.ts": "const o: {a:number} = {a:1,colour:2};export{}",
    "bad.js": "let x = (;",
    "import.js": "import {nosuch} from './other.js'; console.log(nosuch)",
    "other.js": "export const a=1",
    "bad.y": "%%\na: b\n%%%%\n%nope",
    "bad.l": "%%\n[a-z return 1;\n",
    "bad.ninja": "rule cc\n  command = a\nbuild x : nosuchrule y\n bad bad\n",
    "good.ninja": "rule t\n  command = true\nbuild o: t\n",
    "BadSConstruct": "Program(\n",
    "GoodSConstruct": "x=1\n",
    "bad-nginx.conf": "events {}\nhttp { server { listen 80 } }\n",
    "unknown-nginx.conf": "events {}\nhttp { nosuchdirective on; }\n",
    "port-nginx.conf": "events {}\nhttp { server { listen 99999; } }\n",
    "type-nginx.conf": "worker_processes abc;\nevents {}\n",
    "args-nginx.conf": "events {}\nhttp { server_names_hash_bucket_size; }\n",
    "bad-haproxy.cfg": "global\n  nosuchkeyword on\n",
    "port-haproxy.cfg": "frontend f\n  mode http\n  timeout client 1s\n  bind :abc\n",
    "bad-named.conf": 'options { directory "/tmp" ',
    "unknown-named.conf": "options { nosuchoption yes; };\n",
    "bad.zone": "$TTL 1h\n@ IN SOA ns. me. ( 1 2 3\n@ IN FROB x\n",
    "bad-unbound.conf": "server:\n  nosuch: :\n }\n",
    "type-unbound.conf": "server:\n  num-threads: abc\n",
    "bad-dnsmasq.conf": "nosuchoption\n",
    "bad-smb.conf": "[global]\n nosuchparam = x\n",
    "notgz.gz": "plain",
    "notxz.xz": "plain",
    "notzst.zst": "plain",
    "notlz4.lz4": "plain",
    "notbz2.bz2": "plain",
    "nonamecargo/Cargo.toml": '[package]\nversion="0.1.0"\n',
    "badcargo/Cargo.toml": "[package\nname=",
    "nonamecargo/src/lib.rs": "",
    "bad-stunnel.conf": "nosuchoption = 1\n",
    "bad-logrotate.conf": "/x {\n nosuchdirective\n}\n",
    "bad.cron": "99 * * * * ls\n",
    "bad.erl": "-module(bad).\nf( -> ok.\n",
    "undef.erl": "-module(undef).\n-export([f/0]).\nf() -> X.\n",
    "build.xml": '<project name="p"><target name="a"/></project>',
    "bad.xml": "<project><a></project>",
    "nopom.xml": "<project><modelVersion>4.0.0</modelVersion></project>",
    "pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>g</groupId><artifactId>a</artifactId><version>1</version></project>",
    "bad.cs": "class C { static void Main( { } }",
    "undef.cs": "class C { static void Main() { nosuch(); } }",
    "types.cs": 'class C { static void Main() { int x = "a"; } }',
    "args.cs": "class C { static void F(int a,int b){} static void Main() { F(1); } }",
    "bad-proftpd.conf": "NoSuchDirective on\n",
    "bad-dovecot.conf": "nosuchsetting = 1\n",
    "bad.journal": "2024/99/99 x\n  a  (((\n",
    "good.journal": "2024-01-01 x\n  a  1\n  b\n",
    "bad.rem": "REM ((( MSG x\n",
    "good.adoc": "x\n",
    "bad.texi": "\\input texinfo\n@nosuchcommand\n@bye\n",
    "good.ps": "%!PS\nshowpage\n",
    "good.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    "bad.po": 'msgid "a\nmsgstr\n',
    "bad.peg": "start = (",
    "bad.less": ".a { color: red",
    "undef.less": ".a { color: @nosuch; }",
    "noxfile.py": "",
    "dodo.py": "",
    "tasks.py": "",
    "main.cf": "",
    "disk.img": "\0" * 4096,
}


def laid(folder: Path) -> None:
    """The files that the commands meet."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    (folder / "pic.png").write_bytes(b64decode(picture))
    if modules := os.environ.get("NODE_MODULES"):
        (folder / "node_modules").symlink_to(modules)
    ran("tar cf good.tar a.txt; zip -q good.zip a.txt; gcc -c good.c", folder)


def ran(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"LC_ALL": "C.UTF-8", "HOME": str(folder), "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=25,
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )


def main(source: str, out: str) -> None:
    rows = Rows(out)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        laid(folder)
        for line in Path(source).read_text("utf-8").splitlines():
            if not line or line.startswith("#"):
                continue
            system, label, command = line.split("|", 2)
            try:
                done = ran(command, folder)
            except subprocess.TimeoutExpired:
                rows.left_out(system, command, "did not end")
                continue
            text = (done.stderr.strip() or done.stdout.strip()).replace(place, "/srv/app/w")
            absent = "command not found" in text and "frobnicate" not in command
            if absent or (done.returncode == 0 and not done.stderr.strip()) or not text:
                rows.left_out(
                    system, command, "is not installed" if absent else f"said {text[:60]!r}"
                )
                continue
            rows.add(system, label, text, {"command": command}, ["command"], status=done.returncode)
    rows.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
