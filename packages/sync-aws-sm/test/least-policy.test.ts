import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { silentLog } from '@strongroom/engine-sdk';
import { describeWithMoto, startMoto } from '@strongroom/lab';
import { createNetworkGuard } from '@strongroom/sync-sdk';
import { awsSmDestination } from '../src/index.ts';
import type { AwsSmConnection } from '../src/connection.ts';
import { AwsOutside, connectionTo } from './aws-outside.ts';

jest.setTimeout(60_000);

const MARK = { destination: 'a'.repeat(24), association: 'b'.repeat(24) };

/** What the page of the destination tells operators to allow: at least, with replicas, with a key. */
async function documented(): Promise<readonly string[][]> {
  const page = await readFile(new URL('../../../docs/sync/aws-sm.md', import.meta.url), 'utf8');
  const blocks = [...page.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text]) => text!);
  return blocks.map((text) => [...text.matchAll(/"secretsmanager:(\w+)"/g)].map(([, action]) => action!).sort());
}

describeWithMoto('the least permission that the documentation names, with moto', () => {
  const outside = new AwsOutside();
  beforeAll(async () => outside.start(await startMoto()), 60_000);
  afterAll(async () => outside.stop());

  /** Everything a destination does: the actions that were asked for. */
  async function asked(name: string, settings: Partial<AwsSmConnection>, later: Partial<AwsSmConnection> = settings): Promise<string[]> {
    const before = outside.targets.length;
    const signal = AbortSignal.timeout(60_000);
    const network = createNetworkGuard({ allowedIpv4: [], allowedIpv6: [], allowedPorts: [], disabled: true });
    const host = { log: silentLog, now: () => new Date(), network };
    const first = await awsSmDestination.open(connectionTo(outside.endpoint, settings), host);
    const session = await awsSmDestination.open(connectionTo(outside.endpoint, later), host);
    const put = { name, mark: MARK, tags: {}, signal };
    await first.put({ ...put, value: 'one', operationId: crypto.randomUUID() });
    const current = (await session.read({ name, signal }))!;
    await session.put({ ...put, value: 'two', operationId: crypto.randomUUID(), current });
    for await (const _ of session.list({ destination: MARK.destination, signal }));
    await session.remove({ name, current, signal });
    const deleted = (await session.read({ name, signal }))!;
    await session.put({ ...put, value: 'three', operationId: crypto.randomUUID(), current: deleted });
    await first.close();
    await session.close();
    await network.close();
    return [...new Set(outside.targets.slice(before))].sort();
  }

  test('is exactly what is asked for; replica_regions and kms_key_id add what their paragraphs say', async () => {
    const [least, replicas, key] = await documented();
    const plain = await asked('plain', {});
    expect(plain).toEqual(least);
    const wider = { replica_regions: { 'us-east-1': '', 'us-west-2': '' } };
    const copied = await asked('copied', { replica_regions: { 'us-east-1': '' } }, wider);
    expect(copied.filter((action) => !plain.includes(action))).toEqual(replicas!.slice().sort());
    const keyed = await asked('keyed', { kms_key_id: 'alias/one' });
    expect(keyed.filter((action) => !plain.includes(action))).toEqual(key);
  });
});
