// A page in headless Chromium, over its DevTools protocol: messages of JSON, each ended by a
// zero byte, on two pipes.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const BINARY = process.env.FREEBOARD_CHROMIUM ?? 'chromium';
const ANSWER_TIMEOUT_MS = 60_000;

/** Starts a browser, hands it to `body`, and stops it. */
export async function withBrowser(body) {
  const profile = await mkdtemp(path.join(tmpdir(), 'freeboard-chromium-'));
  const browser = new Browser(profile);
  try {
    await body(browser);
  } finally {
    await browser.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Browser {
  #child;
  #ended;
  #waiting = new Map();
  #pages = new Map();
  #last = 0;

  constructor(profile) {
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run'];
    const pipe = ['--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'];
    this.#child = spawn(BINARY, [...flags, ...pipe], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve));
    const fail = (why) => this.#waiting.forEach(({ reject }) => reject(new Error(why)));
    this.#child.once('error', (error) => fail(`${BINARY} does not start: ${error.message}`));
    this.#child.once('close', () => fail('the browser has ended'));
    this.#child.stdio[3].on('error', () => {});
    let text = '';
    this.#child.stdio[4].setEncoding('utf8').on('data', (data) => {
      const messages = (text + data).split('\0');
      text = messages.pop();
      messages.forEach((message) => this.#receive(JSON.parse(message)));
    });
  }

  #receive(message) {
    if (message.id === undefined) {
      this.#pages.get(message.sessionId)?.happened(message.method, message.params);
      return;
    }
    const { resolve, reject } = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  /** One command of the protocol. */
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} is not answered`)), ANSWER_TIMEOUT_MS);
      const settle = (outcome) => (value) => (clearTimeout(timer), outcome(value));
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) });
      this.#child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    });
  }

  /** A new page that notes what goes wrong in it. */
  async page({ width = 1200, height = 900, dark = false } = {}) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId);
    this.#pages.set(sessionId, page);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.send(`${domain}.enable`);
    const metrics = { width, height, deviceScaleFactor: 1, mobile: width < 600 };
    await page.send('Emulation.setDeviceMetricsOverride', metrics);
    const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
    await page.send('Emulation.setEmulatedMedia', { features });
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => {});
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await this.#ended;
    clearTimeout(late);
  }
}

class Page {
  #browser;
  #session;
  #loaded = () => {};
  /** Errors of scripts, lines of the console, refusals of the browser, dialogs. */
  troubles = [];
  /** The addresses it asked for. */
  requests = [];

  constructor(browser, session) {
    this.#browser = browser;
    this.#session = session;
  }

  send(method, params) {
    return this.#browser.send(method, params, this.#session);
  }

  happened(method, params) {
    const noted = {
      'Runtime.exceptionThrown': () => params.exceptionDetails.text,
      'Runtime.consoleAPICalled': () => `console: ${JSON.stringify(params.args)}`,
      'Log.entryAdded': () => params.entry.text,
      'Network.loadingFailed': () => params.errorText,
      'Page.javascriptDialogOpening': () => `a dialog: ${params.message}`,
    };
    if (noted[method]) this.troubles.push(noted[method]());
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
    if (method === 'Page.loadEventFired') this.#loaded();
    // A dialog that nobody closes would stop the page.
    if (method === 'Page.javascriptDialogOpening') this.send('Page.handleJavaScriptDialog', { accept: true });
  }

  async open(url) {
    const loaded = new Promise((resolve) => (this.#loaded = resolve));
    await this.send('Page.navigate', { url });
    await loaded;
  }

  /** The value of an expression in the page. */
  async evaluate(expression) {
    const asked = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', asked);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** What a person sees, from top to bottom, as base64 of a PNG. */
  async picture() {
    const { cssContentSize } = await this.send('Page.getLayoutMetrics');
    const { width, height } = cssContentSize;
    const clip = { x: 0, y: 0, width, height, scale: 1 };
    const shot = await this.send('Page.captureScreenshot', { clip, captureBeyondViewport: true });
    return shot.data;
  }
}
