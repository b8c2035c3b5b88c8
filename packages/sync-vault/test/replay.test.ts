import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, openbaoMissing } from '@strongroom/lab';
import type { Exchange, PeerDoor } from './peer-door.ts';
import { startOpenbaoDoor } from './peers.ts';
import { makeCalls, prepareServer } from './recorded-calls.ts';
import { replayServer } from './replayed-server.ts';

interface Recording {
  readonly server: string;
  readonly exchanges: readonly Exchange[];
  readonly outcomes: readonly unknown[];
}

const FILE = new URL('./wire/openbao.json', import.meta.url);
const read = (): Recording => JSON.parse(readFileSync(FILE, 'utf8')) as Recording;
/** Methods, paths, bodies and statuses: what is the same for every OpenBao. */
const shape = ({ exchanges }: Recording): unknown[] =>
  exchanges.map(({ method, path, body, status }) => ({ method, path, body: body ?? null, status }));

describe('Against the recorded answers of OpenBao', () => {
  test('the same calls are made, and they come to the same', async () => {
    const recording = read();
    const server = await replayServer(recording.exchanges);
    try {
      const outcomes = await makeCalls(server.address);
      expect(server.faults).toEqual([]);
      expect(server.left()).toBe(0);
      expect(JSON.parse(JSON.stringify(outcomes))).toEqual(recording.outcomes);
    } finally {
      server.stop();
    }
  });
});

describeWhere(openbaoMissing(), 'A running OpenBao', () => {
  let door: PeerDoor;
  beforeAll(async () => void (door = await startOpenbaoDoor()), 60_000);
  afterAll(async () => door?.stop());

  test('answers as the recording says; with STRONGROOM_RECORD=1 it is recorded again', async () => {
    await prepareServer(door);
    const outcomes = await makeCalls(door.address);
    const { version } = (await (await fetch(`${door.address}/v1/sys/health`)).json()) as { version: string };
    const exchanges = door.exchanges.filter(({ path }) => path !== '/v1/sys/health');
    const recording = JSON.parse(JSON.stringify({ server: `OpenBao ${version}`, exchanges, outcomes })) as Recording;
    if (process.env['STRONGROOM_RECORD'] === '1') writeFileSync(FILE, `${JSON.stringify(recording, undefined, 2)}\n`);
    expect(shape(recording)).toEqual(shape(read()));
  });
});
