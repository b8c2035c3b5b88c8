import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { startTransit } from '../../../seal-transit/test/transit-server.ts';
import { SealedProcess } from '../../src/seals/sealed-process.ts';

test('operators migrate from shares to a seal, to another key of its type, and back; of two seals each opens alone', async () => {
  const [east, west] = await Promise.all([startTransit(['unseal']), startTransit(['unseal'])]);
  const block = ({ address, token }: typeof east, more: object = {}) =>
    ['transit', { address, token, key_name: 'unseal', disable_renewal: true, ...more }] as const;
  const fixed = ['static', { current_key_id: '1', current_key: randomBytes(32).toString('hex'), priority: 2 }] as const;
  const server = await SealedProcess.create();
  const open = async (): Promise<void> => {
    await server.untilOpen();
    expect((await server.call('GET', 'cubbyhole/kept')).body.data).toEqual({ value: 'kept' });
  };
  try {
    await server.start();
    const { keys } = await server.init({ secret_shares: 2, secret_threshold: 2 });
    for (const key of keys) await server.call('PUT', 'sys/unseal', { key });
    await server.call('PUT', 'cubbyhole/kept', { value: 'kept' });
    await server.kill();

    await server.start([block(east)]);
    expect((await server.command('status')).text).toMatch(/^Seal Type +transit\n[^]*^Seal Migration in Progress +true$/m);
    expect((await server.command('operator', 'unseal', keys[0]!)).text).toContain(
      'migrate option not provided and seal migration is pending',
    );
    for (const key of keys) expect((await server.command('operator', 'unseal', '-migrate', key)).code).toBe(0);
    await open();
    await server.kill();

    await server.start([block(east, { name: 'east', disabled: 'true' }), block(west, { name: 'west' })]);
    for (const key of keys) await server.call('PUT', 'sys/unseal', { key, migrate: true });
    await open();
    await server.kill();
    await server.start([block(west, { name: 'west' }), fixed]);
    await server.untilWrapped();
    await server.kill();
    await west.fail('away');
    await server.start([block(west, { name: 'west' }), fixed]);
    await open();
    expect((await server.call('GET', 'sys/seal-backend-status')).body).toMatchObject({ healthy: false, fully_wrapped: true });
    expect((await server.call('PUT', 'sys/rotate/root')).status).toBe(503);
    await west.fail(undefined);
    west.rotate('unseal');
    const rewrapped = await server.call('PUT', 'sys/sealwrap/rewrap');
    expect(rewrapped.body.data).toMatchObject({ entries: { failed: 0 }, seals: [{ name: 'west', key_id: 'v2' }, { name: 'static' }] });
    expect((await server.call('PUT', 'sys/rotate/root')).status).toBe(204);
    await server.kill();

    // What was removed opens nothing any more: the other one has been checked since.
    await server.start([fixed]);
    await open();
    await server.until('the wrap of the removed seal is gone', ({ log }) => log.includes('no longer opens the store'));
    await server.kill();
    await expect(server.start([block(west, { name: 'west' })])).rejects.toThrow(/the server ended with 1/);

    await server.start([['static', { ...fixed[1], disabled: 'true' }]]);
    for (const key of keys) await server.call('PUT', 'sys/unseal', { key, migrate: true });
    await open();
    await server.kill();
    await server.start();
    for (const key of keys) await server.call('PUT', 'sys/unseal', { key });
    await open();
    for (const secret of [...keys, server.token, east.token, west.token, fixed[1].current_key]) expect(server.log).not.toContain(secret);
  } finally {
    await server.dispose();
    await Promise.all([east.stop(), west.stop()]);
  }
}, 120_000);
