// The page of `freeboard audit --format html`, as a browser shows it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { withBrowser } from './browser.mjs';
import { uri, withDatabase } from './place.mjs';

const BINARY = process.env.FREEBOARD_BINARY;
const DATABASE = 'report_suite';
const SCRIPT = '<script>document.title = "run"; alert(1)</script>';
const IMAGE = '"><img src=x onerror=alert(2)>';
/** Pictures are kept here, where it is set. */
const PICTURES = process.env.FREEBOARD_PICTURES;
let folder;
let page;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'freeboard-report-'));
  page = path.join(folder, 'report.html');
  const freeboard = (...args) => promisify(execFile)(BINARY, args);
  await withDatabase(DATABASE, async (database) => {
    const load = ['--db', DATABASE, '--scenario', 'shop,social', '--queries'];
    await freeboard('demo', 'load', uri(), ...load);
    // An entry of a kilobyte an hour: full in a year or two.
    const entry = (_, number) => ({ at: new Date(Date.UTC(2026, 0, 1, number)), text: SCRIPT.repeat(20) });
    const many = Array.from({ length: 2000 }, entry);
    await database.collection(SCRIPT).insertOne({ _id: IMAGE, [IMAGE]: many });
    await freeboard('audit', uri(), '--db', DATABASE, '--full', '--format', 'html', '-o', page);
  });
});

after(() => rm(folder, { recursive: true, force: true }));

/** How many colours a picture has, and the share of the most frequent one. */
async function colours(browser, picture) {
  const canvas = await browser.page();
  return canvas.evaluate(`new Promise((resolve, reject) => {
    const image = new Image();
    image.onerror = () => reject(new Error('no picture'));
    image.onload = () => {
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      const pixels = new Uint32Array(context.getImageData(0, 0, image.width, image.height).data.buffer);
      const counts = new Map();
      for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
      const most = [...counts.values()].reduce((most, count) => Math.max(most, count), 0);
      resolve({ colours: counts.size, most: most / pixels.length });
    };
    image.src = 'data:image/png;base64,${picture}';
  })`);
}

for (const [name, view] of Object.entries({
  'a desk': { width: 1200 },
  'a desk in the dark': { width: 1200, dark: true },
  'a telephone': { width: 390 },
})) {
  test(`the page is whole on ${name}`, async () => {
    await withBrowser(async (browser) => {
      const shown = await browser.page(view);
      await shown.open(pathToFileURL(page).href);
      const picture = await shown.picture();
      if (PICTURES) await writeFile(path.join(PICTURES, `${name}.png`), picture, 'base64');
      assert.deepEqual(shown.troubles, []);
      assert.deepEqual(shown.requests, [pathToFileURL(page).href]);
      const { colours: different, most } = await colours(browser, picture);
      assert.ok(different > 50 && most < 0.98, `${different} colours, one of them on ${most} of it`);
      const overflow = await shown.evaluate('document.documentElement.scrollWidth - innerWidth');
      assert.ok(overflow <= 0, `${overflow} pixels are beyond the right edge`);
    });
  });
}

test('the page says what was found, and runs nothing of it', async () => {
  await withBrowser(async (browser) => {
    const shown = await browser.page();
    await shown.open(pathToFileURL(page).href);
    const text = await shown.evaluate('document.body.innerText');
    const asked = ['Bloated document', 'Missing index', 'Normalised', 'Uncomputed'];
    for (const words of ['Checklist', 'Unbounded array', `${DATABASE}.users`, 'activities', SCRIPT, IMAGE, ...asked]) {
      assert.ok(text.includes(words), words);
    }
    assert.equal(await shown.evaluate('document.querySelectorAll("script, img, link, iframe").length'), 0);
    assert.notEqual(await shown.evaluate('document.title'), 'run');
    const charts = await shown.evaluate('document.querySelectorAll(".histogram svg").length');
    assert.ok(charts >= 10, `${charts} charts`);
    assert.ok(await shown.evaluate('document.querySelectorAll(".finding svg").length > 0'));
    // A chart follows the page's colours.
    const bar = 'getComputedStyle(document.querySelector(".histogram svg rect[fill]")).fill';
    const light = await shown.evaluate(bar);
    await shown.send('Emulation.setEmulatedMedia', {
      features: [{ name: 'prefers-color-scheme', value: 'dark' }],
    });
    assert.notEqual(await shown.evaluate(bar), light);
    // The buttons show what they say.
    const visible = 'Array.from(document.querySelectorAll(".finding")).filter((it) => it.offsetHeight > 0)';
    await shown.evaluate('document.querySelector("#show-critical").click()');
    assert.deepEqual(await shown.evaluate(`[...new Set(${visible}.map((it) => it.className))]`), ['finding critical']);
    await shown.evaluate('document.querySelector("#show-all").click()');
    const all = await shown.evaluate('document.querySelectorAll(".finding").length');
    assert.equal(await shown.evaluate(`${visible}.length`), all);
    // And it prints.
    const { data } = await shown.send('Page.printToPDF', { printBackground: true });
    assert.ok(Buffer.from(data, 'base64').subarray(0, 5).equals(Buffer.from('%PDF-')));
    assert.deepEqual(shown.troubles, []);
  });
});
