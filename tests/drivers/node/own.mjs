// A server of a test's own, started with options.

import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

export const BINARY = process.env.FREEBOARD_BINARY;

/** Starts the binary and says where it listens. */
export async function start(...options) {
  const data = await mkdtemp(path.join(tmpdir(), 'freeboard-own-'));
  const child = spawn(
    BINARY,
    ['serve', '--data', data, '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', ...options],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const ended = new Promise((resolve) => child.on('close', resolve));
  const host = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = /listening on (\S+)\n/.exec(text);
      if (found) resolve(found[1]);
    });
    ended.then((code) => reject(new Error(`the server has ended with ${code}`)));
  });
  return {
    host,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      await rm(data, { recursive: true, force: true });
    },
  };
}
