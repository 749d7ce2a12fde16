// mongosh, run as a program, with a home of its own.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { uri } from './place.mjs';

const BINARY = fileURLToPath(new URL('node_modules/mongosh/bin/mongosh.js', import.meta.url));

export class Shell {
  constructor(place, home) {
    this.place = place;
    this.home = home;
  }

  /** A shell on an empty database, of another server where one is named. */
  static async open(database, place = uri(database)) {
    const shell = new Shell(place, await mkdtemp(path.join(tmpdir(), 'freeboard-mongosh-')));
    // Otherwise the shell speaks of its telemetry at the first start.
    await shell.says('disableTelemetry(); db.dropDatabase()');
    return shell;
  }

  async close() {
    await this.says('db.dropDatabase()');
    await rm(this.home, { recursive: true, force: true });
  }

  run(args, { input = '', environment = {} } = {}) {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [BINARY, this.place, ...args], {
        env: { ...process.env, HOME: this.home, NO_COLOR: '1', ...environment },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (data) => (stdout += data));
      child.stderr.on('data', (data) => (stderr += data));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, stdout, stderr }));
      child.stdin.end(input);
    });
  }

  /** What `script` prints, evaluated. */
  async says(script) {
    const { code, stdout, stderr } = await this.run(['--quiet', '--eval', script]);
    assert.equal(code, 0, stdout + stderr);
    return stdout.trim();
  }

  /** What `script` prints, put into a file. */
  async file(script) {
    const file = path.join(this.home, 'script.js');
    await writeFile(file, script);
    return this.plays(file);
  }

  /** What a script in a file prints. */
  async plays(file, environment) {
    const { code, stdout, stderr } = await this.run(['--quiet', '--file', file], { environment });
    assert.equal(code, 0, stdout + stderr);
    return stdout.trim();
  }

  /** The value of `script` as JSON. */
  async value(script) {
    return JSON.parse(await this.says(`print(EJSON.stringify((() => { ${script} })()))`));
  }
}
