import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountForTest, type TestMount } from '@strongroom/engine-testkit';
import { doorEngine } from '../src/door-engine.ts';
import { Doors } from '../src/doors.ts';

describe('the door engine', () => {
  let doors: Doors;
  let mount: TestMount;

  beforeEach(async () => {
    doors = new Doors(['front']);
    mount = await mountForTest(doorEngine(doors));
    await mount.write('roles/visitor', { door: 'front', ttl: '10m', max_ttl: '15m' });
  });
  afterEach(async () => mount.close());

  const newCode = async (): Promise<{ code: string; leaseId: string }> => {
    const { data, leaseId } = await mount.read('codes/visitor');
    return { code: (data as { code: string }).code, leaseId };
  };

  test('a role reads back with its durations in seconds', async () => {
    const { data } = await mount.read('roles/visitor');
    expect(data).toEqual({ door: 'front', ttl: 600, max_ttl: 900 });
    expect((await mount.list('roles')).data).toEqual({ keys: ['visitor'] });
  });

  test('a role without a door is refused, and the answer names the field', async () => {
    const { status, errors } = await mount.call('update', 'door/roles/other', { data: { ttl: '1h' } });
    expect(status).toBe(400);
    expect(errors?.join()).toContain('door');
  });

  test('a second write changes only what it sends', async () => {
    await mount.write('roles/visitor', { ttl: '5m' });
    expect((await mount.read('roles/visitor')).data).toEqual({ door: 'front', ttl: 300, max_ttl: 900 });
  });

  test('a code opens its door until its lease ends', async () => {
    const { code } = await newCode();
    expect(doors.opens('front', code)).toBe(true);
    await mount.advance('9m');
    expect(doors.opens('front', code)).toBe(true);
    await mount.advance('1m');
    expect(doors.opens('front', code)).toBe(false);
  });

  test('a renewed code lives on, but never past max_ttl', async () => {
    const { code, leaseId } = await newCode();
    await mount.advance('9m');
    const renewed = await mount.call('update', 'sys/leases/renew', { data: { lease_id: leaseId } });
    expect(renewed.leaseDuration).toBe(360);
    await mount.advance('2m');
    expect(doors.opens('front', code)).toBe(true);
    await mount.advance('4m');
    expect(doors.opens('front', code)).toBe(false);
  });

  test('a revoked code stops at once', async () => {
    const { code, leaseId } = await newCode();
    await mount.call('update', 'sys/leases/revoke', { data: { lease_id: leaseId } });
    expect(doors.opens('front', code)).toBe(false);
  });

  test('unmounting takes all codes back', async () => {
    const { code } = await newCode();
    expect((await mount.call('delete', 'sys/mounts/door')).status).toBe(204);
    await mount.advance('1s');
    expect(doors.opens('front', code)).toBe(false);
  });

  test('a door that does not take the code is named, and leaves neither lease nor intent', async () => {
    await mount.write('roles/lost', { door: 'attic' });
    const { status, errors } = await mount.call('read', 'door/codes/lost');
    expect(status).toBe(500);
    expect(errors?.join()).toContain('attic');
    await mount.advance('1s');
    expect((await mount.call('list', 'sys/leases/lookup/door/codes/lost')).status).toBe(404);
    expect((await mount.call('read', 'sys/journal')).data).toMatchObject({ intents: [] });
  });

  test('an unknown role is a 404', async () => {
    expect((await mount.call('read', 'door/codes/nobody')).status).toBe(404);
  });

  test('the mount option code_length sets the length of codes, and nonsense refuses the mount', async () => {
    const other = { type: 'door', options: { code_length: '16' } };
    await mount.call('update', 'sys/mounts/cellar', { data: other });
    await mount.call('update', 'cellar/roles/visitor', { data: { door: 'front' } });
    const { data } = await mount.call('read', 'cellar/codes/visitor');
    expect((data as { code: string }).code).toHaveLength(16);
    const refused = await mount.call('update', 'sys/mounts/attic', { data: { ...other, options: { code_length: 'long' } } });
    expect(refused.status).toBe(400);
    expect(refused.errors?.join()).toContain('code_length');
  });
});
