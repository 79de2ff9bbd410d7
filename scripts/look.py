"""Every page of a built site in Chromium, at two widths, light and dark: what is wrong there.

    python scripts/look.py SITE [PAGE ...]              faults, one a line; exit code 1 if any
    python scripts/look.py SITE --shots TO [PAGE ...]   pictures of whole pages, cut into columns

SITE is the folder that `python tests/test_site.py SITE` has made, PAGE a file in it (all, if none
is named). Needs Chromium or Chrome (CHROMIUM may name it). It is served from this machine and
driven through a pipe, so that nothing has to be installed and no network is needed; pictures need
Pillow.

Measured: pages that scroll sideways, what is wider than the page or cut off, text over text, words
broken in tables, lines of code that wrap on a wide screen, contrast of text, pictures that do not
load or shine in the dark theme, links to places that are missing, errors and foreign addresses. The
two badges of the front page come from elsewhere, and may.
"""

import base64
import functools
import http.server
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

WIDTHS = 1400, 400
THEMES = "light", "dark"
BADGES = "colab-badge.svg", "badge_logo.svg"  # as in test_site.py
LEAST_CONTRAST = 4.5  # WCAG 2.1, level AA; 3 for large text
OPTIONS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --hide-scrollbars
    --disable-background-networking --disable-component-update --disable-sync
    --remote-debugging-pipe
"""

MEASURE = r"""
(([wide, dark, least]) => {
  const root = document.documentElement, page = root.clientWidth, found = [];
  const short = text => String(text).replace(/\s+/g, ' ').trim().slice(0, 120);
  const say = (kind, text) => found.push([kind, short(text)]);
  const name = e => e.tagName.toLowerCase() + (e.className && e.className.split ? '.' +
    e.className.split(' ')[0] : '') + ': ' + (e.textContent || e.alt || e.src || '').slice(0, 70);
  const rolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX);
  const inside = (e, ok) => { for (let p = e; p && p !== document.body; p = p.parentElement)
    if (ok(p)) return p; return null; };
  const seen = e => e.checkVisibility({visibilityProperty: true, opacityProperty: true});
  if (root.scrollWidth > page + 1) say('scrolls sideways', root.scrollWidth + ' of ' + page);
  const all = [...document.querySelectorAll('#quarto-content *, header *')];
  const shown = all.filter(e => seen(e) && !e.closest('.smalldocs-search-results'));
  for (const e of shown) {
    const r = e.getBoundingClientRect();
    if (r.width && r.right > page + 1 && !inside(e.parentElement, rolls) && !e.closest('.sidebar'))
      say('wider than the page', name(e));
    const s = getComputedStyle(e);
    if (s.overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 2 && e.clientWidth > 1 &&
        e.matches('main *')) say('cut off', name(e));
    if (e.tagName === 'IMG') {
      if (!e.complete || !e.naturalWidth) say('picture does not load', e.src.slice(0, 60));
    }
    if (wide && e.matches('.sd-table, main table') && e.scrollWidth > e.clientWidth + 2)
      say('table scrolls on a wide screen', name(e));
    if (e.tagName === 'math' && !inside(e, rolls)) {
      const block = inside(e.parentElement, p => getComputedStyle(p).display.match(/block|cell/));
      if (block && r.right > block.getBoundingClientRect().right + 2)
        say('formula leaves its block', name(e));
    }
  }
  // text: contrast, overlaps, words broken in tables
  const rgb = c => { const m = c.match(/[\d.]+/g).map(Number);
    return c.startsWith('color(srgb') ? [255 * m[0], 255 * m[1], 255 * m[2], m[3] ?? 1]
      : [m[0], m[1], m[2], m[3] ?? 1]; };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const ground = e => { const layers = []; for (let p = e; p; p = p.parentElement) {
      const c = rgb(getComputedStyle(p).backgroundColor); if (c[3]) layers.push(c);
      if (c[3] === 1) break; }
    return layers.reduceRight((b, a) => over(a, b), [255, 255, 255, 1]); };
  const light = c => { const f = c.slice(0, 3).map(v => { v /= 255;
      return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + .05) / (y + .05); };
  const pieces = [], faint = new Map(), walk =
    document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    const e = n.parentElement;
    if (!n.data.trim() || !seen(e) || e.closest('script, style, svg, .smalldocs-search-results'))
      continue;
    const s = getComputedStyle(e), back = ground(e);
    let through = 1;
    for (let p = e; p; p = p.parentElement) through *= Number(getComputedStyle(p).opacity);
    const own = rgb(s.color);
    own[3] *= through;
    const c = contrast(over(own, back), back);
    const size = parseFloat(s.fontSize), large = size >= 24 || size >= 18.6 && s.fontWeight >= 700;
    if (c < (large ? 3 : least)) {
      const key = c.toFixed(1) + ' ' + s.color + ' on ' + back.slice(0, 3).map(Math.round) + ' ' +
        e.tagName.toLowerCase() + (e.className && e.className.split ? '.' + e.className : '');
      if (!faint.has(key)) faint.set(key, n.data.trim());
    }
    if (size < 10 && !e.closest('math, sub, sup')) say('tiny text', size + ' ' + n.data);
    const range = document.createRange();
    range.selectNodeContents(n);
    for (const r of range.getClientRects())
      if (r.width > 1 && !e.closest('.sidebar, header, #quarto-margin-sidebar'))
        pieces.push([r, n, e.closest('math') || n, inside(e, rolls)]);
    if (e.closest('main td, main th, main dt') && !e.closest('math'))
      for (const m of n.data.matchAll(/[A-Za-z]{3,}/g)) {
        range.setStart(n, m.index); range.setEnd(n, m.index + m[0].length);
        const tops = new Set([...range.getClientRects()].map(r => Math.round(r.top)));
        if (tops.size > 1) say('word broken in a table', m[0]);
      }
  }
  for (const [key, text] of faint) say('faint text', key + ': ' + text);
  pieces.sort((a, b) => a[0].top - b[0].top);
  for (let i = 0; i < pieces.length; i++) for (let j = i + 1; j < pieces.length; j++) {
    const [a, , am, ar] = pieces[i], [b, , bm, br] = pieces[j];
    if (b.top > a.bottom) break;
    if (am === bm || ar !== br) continue;
    const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (x > 2 && y > .45 * Math.min(a.height, b.height))
      say('text over text', [pieces[i], pieces[j]].map(o => o[1].data.slice(0, 40)).join(' / '));
  }
  // lines of code and of outputs have room for 100 characters; longer ones are meant to wrap
  if (wide) for (const code of document.querySelectorAll('main pre > code')) {
    if (!seen(code)) continue;
    const parts = [], words = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    let long = 0;
    for (let n = words.nextNode(); n; n = words.nextNode()) {
      parts.push([n, long]); long += n.data.length; }
    const at = i => { const [n, from] = parts.findLast(o => o[1] <= i); return [n, i - from]; };
    const range = document.createRange();
    for (const m of code.textContent.matchAll(/^.{60,100}$/gm)) {
      range.setStart(...at(m.index)); range.setEnd(...at(m.index + m[0].length - 1));
      const lows = [...range.getClientRects()].map(r => r.bottom);
      if (Math.max(...lows) - Math.min(...lows) > 8) say('code wraps', m[0]);
    }
  }
  if (dark) for (const img of document.querySelectorAll('main img')) {
    if (!img.naturalWidth || getComputedStyle(img).filter !== 'none') continue;
    const c = Object.assign(document.createElement('canvas'), {width: 1, height: 1});
    const g = c.getContext('2d'); g.drawImage(img, 0, 0, 3, 3, 0, 0, 1, 1);
    const p = g.getImageData(0, 0, 1, 1).data;
    if (p[3] > 200 && p[0] + p[1] + p[2] > 700)
      say('white picture', img.alt || img.src.slice(0, 40));
  }
  for (const a of document.querySelectorAll('a[href^="#"]')) {
    const to = decodeURIComponent(a.getAttribute('href').slice(1));
    if (to && !document.getElementById(to)) say('link to nowhere', to);
  }
  return found;
})
"""


class Chromium:
    """A browser without a window, told what to do through a pipe"""

    def __init__(self):
        names = "chromium", "chromium-browser", "google-chrome", "chrome"
        program = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
        if program is None:
            raise SystemExit("look.py: no Chromium or Chrome was found; CHROMIUM may name one")
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        reads, self._out = os.pipe()
        self._in, writes = os.pipe()
        # the browser reads from 3 and writes to 4
        shell = 'r=$1; w=$2; shift 2; exec "$@" 3<&$r 4>&$w'
        options = [*OPTIONS.split(), f"--user-data-dir={self.folder.name}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "look", str(reads), str(writes), program, *options],
            pass_fds=(reads, writes),
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        os.close(reads)
        os.close(writes)
        self._rest, self._n, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")

    def _message(self):
        while b"\0" not in self._rest:
            more = os.read(self._in, 1 << 20)
            if not more:
                raise RuntimeError("Chromium has ended")
            self._rest += more
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def call(self, method, **params):
        """What the browser answers; events on the way are kept"""
        self._n += 1
        asked = {"id": self._n, "method": method, "params": params}
        if self.session:
            asked["sessionId"] = self.session
        data = json.dumps(asked).encode() + b"\0"
        while data:
            data = data[os.write(self._out, data) :]
        while True:
            said = self._message()
            if said.get("id") != self._n:
                self.events.append(said)
            elif "error" in said:
                raise RuntimeError(f"{method}: {said['error']}")
            else:
                return said["result"]

    def ask(self, text):
        """Value of an expression of the page"""
        said = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in said:
            raise RuntimeError(json.dumps(said["exceptionDetails"])[:2000])
        return said["result"].get("value")

    def size(self, width, height=900):
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def theme(self, name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def open(self, address):
        """Open a page, and wait until it and its pictures are there"""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(o.get("method") == "Page.loadEventFired" for o in self.events):
            self.events.append(self._message())
        self.ask("document.fonts.ready.then(() => 0)")

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


def errors(events, host):
    """Errors of a page while it opened, and addresses outside of the site that it asked for"""
    for o in events:
        method, p = o.get("method"), o.get("params", {})
        if method == "Runtime.exceptionThrown":
            yield "error", p["exceptionDetails"].get("text", "")
        elif method == "Log.entryAdded" and p["entry"]["level"] == "error":
            yield "error", p["entry"]["text"] + " " + p["entry"].get("url", "")
        elif method == "Network.requestWillBeSent":
            address = p["request"]["url"]
            if not address.startswith((host, "data:", "blob:")):
                yield "foreign address", address


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def serve(folder):
    """The folder on a port of this machine: (server, its address)"""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/"


def look(browser, host, page):
    """Faults of a page as (width, theme, kind, what)"""
    for theme in THEMES:
        browser.theme(theme)
        browser.size(WIDTHS[0])
        browser.open(host + page)
        found = dict.fromkeys(errors(browser.events, host))
        yield from ((WIDTHS[0], theme, *o) for o in found)
        for width in WIDTHS:
            browser.size(width)
            given = json.dumps([width == WIDTHS[0], theme == "dark", LEAST_CONTRAST])
            for kind, what in browser.ask(f"({MEASURE})({given})"):
                yield width, theme, kind, what


def columns(browser, scale, high):
    """Pictures of the text of the page that is open, from its top to its end"""
    from PIL import Image

    long = browser.ask("document.documentElement.scrollHeight")
    # what lies at the sides of the text is the same on each page
    box = browser.ask(
        "(o => [o.left, o.width])(document.querySelector('main').getBoundingClientRect())"
    )
    step = int(high / scale)
    for top in range(0, long, step):
        clip = {"x": box[0] - 8, "y": top, "width": box[1] + 16, "height": min(step, long - top)}
        said = browser.call(
            "Page.captureScreenshot", clip=clip | {"scale": scale}, captureBeyondViewport=True
        )
        yield Image.open(io.BytesIO(base64.b64decode(said["data"])))


def shoot(browser, host, page, to, high=1500, wide=1500):
    """Pictures of the whole page for each width and theme, in columns beside each other"""
    from PIL import Image

    name = page.removesuffix(".html").replace("/", "-")
    for theme in THEMES:
        browser.theme(theme)
        for width in WIDTHS:
            browser.size(width)
            browser.open(host + page)
            parts = list(columns(browser, 0.4 if width > 600 else 0.55, high))
            each = parts[0].width + 6
            fit = wide // each
            for i in range(0, len(parts), fit):
                some = parts[i : i + fit]
                sheet = Image.new("RGB", (each * len(some), some[0].height), "red")
                for j, o in enumerate(some):
                    sheet.paste(o, (j * each, 0))
                sheet.save(to / f"{name}_{width}_{theme}_{i // fit + 1}.png")


def main(args):
    shots = None
    if "--shots" in args:
        at = args.index("--shots")
        shots, args = Path(args[at + 1]), args[:at] + args[at + 2 :]
    if not args or not Path(args[0]).is_dir():
        print(__doc__)
        return 2
    site = Path(args[0])
    pages = args[1:] or sorted(o.relative_to(site).as_posix() for o in site.rglob("*.html"))
    server, host = serve(site)
    browser = Chromium()
    n = 0
    try:
        for page in pages:
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                shoot(browser, host, page, shots)
                continue
            for width, theme, kind, what in look(browser, host, page):
                if what.endswith(BADGES):
                    continue
                n += 1
                print(f"{page}\t{width}\t{theme}\t{kind}\t{what}", flush=True)
    finally:
        browser.close()
        server.shutdown()
    return int(n > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
