import { expect, test } from '@jest/globals';
import { manualClock, sharedMemory } from '@strongroom/engine-testkit';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { Store } from '../../../src/kernel/storage/store.ts';
import { jobRecords } from '../../../src/services/jobs/job-record.ts';
import { intentRecords } from '../../../src/services/journal/intent-record.ts';
import { leaseRecords } from '../../../src/services/leases/lease-record.ts';
import { repeatRecords } from '../../../src/services/leases/repeats.ts';
import { removalRecords } from '../../../src/services/removal/removal-record.ts';
import { tokenRecords } from '../../../src/services/tokens/token-record.ts';

/** As version 0.1.0 stored them, each with as little as it could have. */
const OLD = [
  [jobRecords, { mount: 'm', kind: 'tick', id: 'a', entry: {}, due: 1, planned: 1, attempts: 0 }],
  [
    jobRecords,
    {
      ...{ mount: 'm', kind: 'tick', id: 'a', entry: { name: 'a', list: [1] }, due: 1, planned: 1, attempts: 2 },
      ...{ claim: 'c', process: 'p', lastSuccess: 1, lastError: { message: 'no', at: 1 } },
    },
  ],
  [intentRecords, { mount: 'm', kind: 'create', entry: {}, opened: 1, due: 1, attempts: 0 }],
  [
    intentRecords,
    { mount: 'm', kind: 'create', entry: { a: null }, opened: 1, due: 1, attempts: 1, process: 'p', again: 2, undoing: true },
  ],
  [
    leaseRecords,
    { mount: 'm', type: 't', internal: {}, path: 'p', issued: 1, expires: 2, renewable: true, token: '', due: 2, attempts: 0 },
  ],
  [
    leaseRecords,
    {
      ...{
        mount: 'm',
        type: 't',
        internal: { user: { name: 'u' } },
        path: 'p',
        issued: 1,
        expires: 2,
        renewable: false,
        token: 'd',
        due: 3,
      },
      ...{
        latest: 9,
        repeat: 'r',
        last_renewal: 1,
        attempts: 6,
        revoke_error: 'no',
        irrevocable: true,
        waiting: true,
        process: 'p',
        revoking: true,
      },
    },
  ],
  [repeatRecords, { lease: 'p/x', parameters: 'd', data: { a: [1, null] }, warnings: null }],
  [
    removalRecords,
    { path: 'a/', class: 'secret', type: 'kv', uuid: 'u', accessor: 'a', phase: 'wiping', since: 1, due: 2, attempts: 0, reasons: [] },
  ],
  [
    tokenRecords,
    {
      accessor: 'a',
      path: 'auth/token/root',
      policies: ['root'],
      display_name: 'root',
      created: 1,
      expires: 0,
      creation_ttl: 0,
      renewable: false,
    },
  ],
  [
    tokenRecords,
    {
      ...{
        accessor: 'a',
        parent: 'p',
        path: 'auth/l/login',
        policies: [],
        meta: { a: 'b' },
        display_name: 'd',
        entity_id: 'e',
        created: 1,
        expires: 2,
      },
      ...{
        creation_ttl: 1,
        explicit_max_ttl: 0,
        max_ttl: 0,
        within: [{ policies: ['p'] }],
        latest: 3,
        period: 1,
        renewable: true,
        num_uses: -1,
        role: 'r',
      },
      ...{
        bound_cidrs: [],
        no_default_policy: true,
        last_renewal: 1,
        mount: 'm',
        internal: { a: {} },
        wrap: { creation_path: 'p', ttl: 1 },
        due: 2,
      },
      ...{ attempts: 0, revoking: true, unknown_to_this_version: 1 },
    },
  ],
] as const;

/** Two fields that version 0.1.0 named otherwise. */
function named({ lastSuccess, lastError, ...record }: Record<string, unknown>): Record<string, unknown> {
  return {
    ...record,
    ...(lastSuccess === undefined ? {} : { last_success: lastSuccess }),
    ...(lastError === undefined ? {} : { last_error: lastError }),
  };
}

test('records of older versions are read, by the names that their fields have now', async () => {
  const driver = sharedMemory().open();
  const barrier = new Barrier(driver, manualClock());
  await barrier.initialize(Buffer.alloc(32, 9), []);
  await barrier.unseal(Buffer.alloc(32, 9));
  const store = new Store(driver, barrier);
  for (const [records, old] of OLD) {
    await store.transaction(async (tx) => tx.put(records.key('x'), old));
    expect(await records.get(store, 'x')).toEqual(named(old));
  }
});
