import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { LogFormat } from '../src/log/log-level.ts';
import { LogFileFailed } from '../src/failures.ts';
import { redactText } from '../src/log/redaction.ts';
import { ServerLog } from '../src/log/server-log.ts';
import { scratchFolder } from './scratch.ts';

function logTo(format: LogFormat = 'json'): { log: ServerLog; lines: string[] } {
  const lines: string[] = [];
  return { lines, log: new ServerLog({ level: 'debug', format, write: (line) => lines.push(line) }) };
}

const SECRET = 'XyZzY-4711';

describe('the log', () => {
  test('writes one JSON object a line', () => {
    const { log, lines } = logTo();
    log.info('ready', { listeners: 2, level: 'mine' });
    expect(JSON.parse(lines[0]!)).toEqual({ level: 30, time: expect.stringMatching(/Z$/), msg: 'ready', listeners: 2, level_: 'mine' });
  });

  test('writes lines for people', () => {
    const { log, lines } = logTo('standard');
    log.warn('two words', { path: 'a b', n: 1, list: ['x'] });
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z \[WARN\] {2}two words: path="a b" n=1 list="\[\\"x\\"\]"\n$/);
  });

  test('follows its level at once', () => {
    const { log, lines } = logTo();
    log.level = 'error';
    log.warn('no');
    log.level = 'trace';
    log.trace('yes');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['yes']);
  });

  test.each([
    { password: SECRET },
    { bindpass: SECRET },
    { client_token: SECRET },
    { rootToken: SECRET },
    { secret_id: SECRET },
    { connection: { deep: [{ private_key: SECRET }] } },
    { connection_url: `postgresql://u:${SECRET}@h/d` },
    { url: `postgresql://u:${SECRET}@h/d` },
    { error: new Error(`cannot reach ldaps://cn=x:${SECRET}@h`) },
    { Authorization: `Bearer ${SECRET}` },
    { bytes: Buffer.from(SECRET) },
    { text: `token hvs.${'A'.repeat(24)}${SECRET.replaceAll('-', '')} was seen` },
    { text: `s.${'B'.repeat(24)} and s.${'C'.repeat(24)}` },
  ])('masks secrets wherever they stand: case %#', (fields) => {
    for (const format of ['json', 'standard'] as const) {
      const { log, lines } = logTo(format);
      log.error('it failed', fields);
      expect(lines).toHaveLength(1);
      for (const part of [
        SECRET,
        SECRET.replaceAll('-', ''),
        'A'.repeat(20),
        'B'.repeat(20),
        'C'.repeat(20),
        Buffer.from(SECRET).toString('base64'),
      ]) {
        expect(lines[0]).not.toContain(part);
      }
    }
  });

  test('a text of any length is masked in time that grows with its length alone, and is cut', () => {
    const began = performance.now();
    const masked = [`${'x'.repeat(5_000_000)}://u:pass-7Qz@h`, '://a:'.repeat(1_000_000), `${'s.'.repeat(2_000_000)}`].map(redactText);
    expect(performance.now() - began).toBeLessThan(5_000);
    for (const text of masked) expect(text).toHaveLength(16_384);
    expect(redactText(`cannot reach ${'x'.repeat(1_000)}://u:pass-7Qz@h`)).toMatch(/x:\/\/u:\[redacted\]@h$/);
  });

  test('keeps each message on its line, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.dictionary(fc.string({ unit: 'binary' }), fc.anything()), (message, fields) => {
        for (const format of ['json', 'standard'] as const) {
          const { log, lines } = logTo(format);
          log.info(message, fields);
          expect(lines).toHaveLength(1);

          expect(lines[0]!.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('opens its file again after rotation, and lets nobody else read it', () => {
    const folder = scratchFolder();
    const file = join(folder, 'logs', 'server.log');
    const log = new ServerLog({ level: 'info', format: 'json', file });
    log.info('one');
    renameSync(file, `${file}.1`);
    log.reopen();
    log.info('two');
    log.close();
    expect(readFileSync(`${file}.1`, 'utf8')).toContain('one');
    expect(readFileSync(file, 'utf8')).toContain('two');
    expect(existsSync(file) && statSync(file).mode & 0o777).toBe(0o600);
    expect(() => new ServerLog({ level: 'info', format: 'json', file: join(file, 'below') })).toThrow(LogFileFailed);
  });
});
