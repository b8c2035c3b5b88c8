import { beforeEach, describe, expect, test } from '@jest/globals';
import { manualClock, type ManualClock } from '@strongroom/engine-testkit';
import type { FollowedLog } from '../../../src/index.ts';
import { LogStreams } from '../../../src/services/following/log-streams.ts';

describe('the stream of the log', () => {
  let clock: ManualClock;
  let may: boolean;
  const watchers = new Set<(line: string) => void>();
  const asked: object[] = [];
  const log: FollowedLog = {
    follow({ level, format }, add) {
      asked.push({ level, format });
      watchers.add(add);
      return () => void watchers.delete(add);
    },
  };
  const write = (line: string): void => {
    for (const add of watchers) add(line);
  };
  let streams: LogStreams;
  let over: AbortController;

  beforeEach(() => {
    clock = manualClock();
    may = true;
    over = new AbortController();
    watchers.clear();
    const acl = { check: () => ({ allowed: may }) };
    streams = new LogStreams({ clock, log, access: { aclOfToken: async () => acl as never } });
  });
  const open = (format: 'standard' | 'json' = 'standard'): AsyncIterator<string | Uint8Array> =>
    streams.open({ token: 't', remoteAddress: '', path: 'sys/monitor', level: 'debug', format }).open(over.signal)[Symbol.asyncIterator]();

  test('hands on the lines as they are written, until the caller goes', async () => {
    const lines = open();
    const first = lines.next();
    write('one\n');
    write('two\n');
    expect((await first).value).toBe('one\ntwo\n');
    expect(asked.at(-1)).toEqual({ level: 'debug', format: 'standard' });
    const last = lines.next();
    over.abort();
    expect((await last).done).toBe(true);
    expect(watchers.size).toBe(0);
  });

  test('drops lines that a slow caller does not take, and says how many', async () => {
    const lines = open('json');
    const first = lines.next();
    write('0\n');
    expect((await first).value).toBe('0\n');
    for (let line = 0; line < 2_000; line += 1) write('x\n');
    expect(String((await lines.next()).value)).toHaveLength(2 * 1_024);
    const told = JSON.parse(String((await lines.next()).value)) as { msg: string };
    expect(told.msg).toBe('976 lines were dropped, because they were not taken fast enough');
    over.abort();
  });

  test('ends within seconds of the right to read it', async () => {
    const lines = open();
    const last = lines.next();
    may = false;
    await clock.advance('5s');
    expect((await last).value).toMatch(/the stream ends: the token may not read it any more/);
    expect((await lines.next()).done).toBe(true);
    expect(watchers.size).toBe(0);
  });

  test('is refused to the one who comes after twenty others', async () => {
    for (let reader = 0; reader < 20; reader += 1) void open().next();
    expect(() => open()).toThrow('20 callers follow the log of this server, which is as many as may');
    over.abort();
  });
});
