import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeWhere, etcdMissing, startEtcd, type EtcdCluster } from '@strongroom/lab';
import { etcdStorage } from '@strongroom/storage-etcd';
import { diagnose, type Finding } from '../src/index.ts';
import { scratchFolder } from './scratch.ts';

const MIB = 1024 * 1024;

describeWhere(etcdMissing(), 'a configuration with a storage on etcd', () => {
  const folder = scratchFolder();
  let etcd: EtcdCluster;
  beforeAll(async () => {
    // The smallest that a first start fits in, so that a few values fill it.
    etcd = await startEtcd({ flags: [`--quota-backend-bytes=${8 * MIB}`] });
  }, 60_000);
  afterAll(async () => etcd?.stop());

  const found = async (address = etcd.endpoints[0]!): Promise<Finding[]> => {
    const file = join(folder, 'server.hcl');
    writeFileSync(
      file,
      `storage "etcd" {\n  address = "${address}"\n  quota = ${8 * MIB}\n  request_timeout = "1s"\n}\nlistener "tcp" { address = "127.0.0.1:0" }\n`,
    );
    return (await diagnose([file], { env: {} })).filter(({ check }) => check === 'storage etcd');
  };

  test('opens it, and shows how much of its quota is used', async () => {
    expect(await found()).toEqual([
      { check: 'storage etcd', status: 'ok', message: expect.stringMatching(/^\d+ MiB of its quota of 8 MiB are used$/) },
      { check: 'storage etcd', status: 'ok', message: expect.stringMatching(/^it opens/) },
    ]);
  });

  test('fails when no member answers, and names etcd', async () => {
    const [finding, ...others] = await found('http://127.0.0.1:1');
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ status: 'failure', message: expect.stringMatching(/^it does not open: .*etcd/) });
  });

  test('fails when the quota is used up, and names the alarm', async () => {
    const store = await etcdStorage({ endpoints: etcd.endpoints, quotaBytes: 8 * MIB });
    const fill = async (): Promise<void> => {
      for (let n = 0; n < 32; n += 1) await store.commit({ put: [{ key: `filler/${n}`, value: new Uint8Array(MIB / 2) }] });
    };
    await expect(fill()).rejects.toMatchObject({ message: expect.stringContaining('etcd') });
    await store.close();
    expect(await found()).toEqual([
      {
        check: 'storage etcd',
        status: 'failure',
        message: expect.stringMatching(/^it does not open: .*the alarm NOSPACE is raised/),
        advice: expect.stringContaining('only if'),
      },
    ]);
  });
});

describe('a configuration with a storage on etcd that is not complete', () => {
  const folder = scratchFolder();

  test('has its complaint, and nothing is asked of any server', async () => {
    const file = join(folder, 'server.hcl');
    writeFileSync(file, 'storage "etcd" {}\nlistener "tcp" { address = "127.0.0.1:0" }\n');
    const findings = await diagnose([file], { env: {} });
    expect(findings).toContainEqual(
      expect.objectContaining({ status: 'failure', message: expect.stringContaining('address is required') }),
    );
    expect(findings.some(({ check }) => check === 'storage etcd')).toBe(false);
  });
});
