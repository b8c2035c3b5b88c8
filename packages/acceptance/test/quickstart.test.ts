import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const main = fileURLToPath(new URL('../dist/quickstart-main.js', import.meta.url));

describe('the quickstart', () => {
  test('walks the whole walk on a real directory and a real PostgreSQL, and ends by itself with --once', async () => {
    const { code, output } = await run([main, '--once']);
    expect(output).toContain('every step did what it should');
    expect(code).toBe(0);
    for (const step of ['Log Ada in', 'be refused by PostgreSQL', 'SIGKILL', 'expiring on time']) expect(output).toContain(step);
    // What is secret is not printed.
    expect(output).not.toContain('ada-password');
    expect(output).not.toContain('directory-admin');
  }, 120_000);
});

function run(words: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.once('exit', (code) => resolve({ code, output }));
  });
}
