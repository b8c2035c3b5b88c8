import { describe, expect, test } from '@jest/globals';
import { AuditLane, type LaneLimits } from '../../../src/services/audit/audit-lane.ts';
import { FakeDevice } from './fake-device.ts';
import { ManualClock } from './manual-clock.ts';

const limits: LaneLimits = { lines: 5, bytes: 1000, deadlineMillis: 5000 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function lane(device = new FakeDevice()): { device: FakeDevice; clock: ManualClock; lane: AuditLane; states: string[] } {
  const clock = new ManualClock();
  const states: string[] = [];
  return {
    device,
    clock,
    states,
    lane: new AuditLane(
      async () => device,
      clock,
      limits,
      (state) => states.push(state),
    ),
  };
}

describe('the queue before a device', () => {
  test('lines of the same moment share one write', async () => {
    const it = lane();
    await Promise.all(['a', 'b', 'c'].map((line) => it.lane.write(line)));
    expect(it.device.writes).toEqual([['a', 'b', 'c']]);
    expect(it.lane.status()).toMatchObject({ state: 'healthy', written: 3, waiting: 0 });
  });

  test('lines that come during a write go out together in the next one, each caller after its own', async () => {
    const it = lane();
    it.device.block();
    const done: string[] = [];
    const wait = (line: string): Promise<unknown> => it.lane.write(line).then(() => done.push(line));
    const first = wait('a');
    await turn();
    const rest = [wait('b'), wait('c')];
    await turn();
    expect(done).toEqual([]);
    it.device.unblock();
    await Promise.all([first, ...rest]);
    expect(it.device.writes).toEqual([['a'], ['b', 'c']]);
  });

  test('a caller that writes again at once is served', async () => {
    const it = lane();
    for (let count = 0; count < 50; count += 1) await it.lane.write(`${count}`);
    expect(it.device.lines).toHaveLength(50);
  });

  test('leaves no timer behind', async () => {
    const it = lane();
    await it.lane.write('a');
    expect(it.clock.waiting).toBe(0);
  });

  test('a write that hangs refuses its callers at the deadline, later ones at once, and is caught up when it goes on', async () => {
    const it = lane();
    it.device.block();
    const first = it.lane.write('a');
    await turn();
    const second = it.lane.write('b');
    it.clock.advance(4999);
    expect(it.lane.state).toBe('healthy');
    it.clock.advance(1);
    await expect(first).rejects.toThrow('the device has not answered within 5 seconds');
    await expect(second).rejects.toThrow('the device has not answered within 5 seconds');
    await expect(it.lane.write('c')).rejects.toThrow('the device has not answered within 5 seconds');
    expect(it.lane.status()).toMatchObject({ state: 'stalled', waiting: 3, last_error_time: '2030-01-02T03:04:10.678Z' });
    it.device.unblock();
    await turn();
    expect(it.device.lines).toEqual(['a', 'b', 'c']);
    expect(it.states).toEqual(['stalled', 'healthy']);
    await it.lane.write('d');
  });

  test('holds no more lines than allowed and counts the others', async () => {
    const it = lane();
    it.device.block();
    const writes = Array.from({ length: 8 }, (_, at) =>
      it.lane.write(`${at}`).then(
        () => 'written',
        (error: Error) => error.message,
      ),
    );
    expect(it.lane.status().dropped).toBe(3);
    it.device.unblock();
    expect(await Promise.all(writes)).toEqual([
      ...Array<string>(5).fill('written'),
      ...Array<string>(3).fill('too many lines wait for the device'),
    ]);
  });

  test('holds no more characters than allowed', async () => {
    const it = lane();
    it.device.block();
    const first = it.lane.write('x'.repeat(900));
    await expect(it.lane.write('x'.repeat(200))).rejects.toThrow('too many lines');
    it.device.unblock();
    await first;
    await it.lane.write('x'.repeat(1000));
  });

  test('a device that fails is tried again with the next line', async () => {
    const it = lane();
    it.device.error = new Error('no space left');
    await expect(it.lane.write('a')).rejects.toThrow('no space left');
    await expect(it.lane.write('b')).rejects.toThrow('no space left');
    expect(it.lane.status()).toMatchObject({ state: 'failing', failed: 2, last_error: 'no space left' });
    it.device.error = undefined;
    await it.lane.write('c');
    expect(it.device.lines).toEqual(['c']);
    expect(it.states).toEqual(['failing', 'healthy']);
  });

  test('a device that cannot be opened is opened with a later line', async () => {
    const device = new FakeDevice();
    let broken = true;
    const it = new AuditLane(
      async () => {
        if (broken) throw new Error('no such folder');
        return device;
      },
      new ManualClock(),
      limits,
    );
    it.start();
    await turn();
    expect(it.state).toBe('failing');
    await expect(it.write('a')).rejects.toThrow('no such folder');
    broken = false;
    await it.write('b');
    expect(device.lines).toEqual(['b']);
  });

  test('closing lets a device that works finish, and waits for a hanging one no longer than the deadline', async () => {
    const good = lane();
    const written = good.lane.write('a');
    await good.lane.close();
    await written;
    expect(good.device.closed).toBe(1);
    await expect(good.lane.write('b')).rejects.toThrow('the device was closed');

    const hanging = lane();
    hanging.device.block();
    const lost = hanging.lane.write('a');
    await turn();
    const closed = hanging.lane.close();
    hanging.clock.advance(5000);
    await expect(lost).rejects.toThrow('the device has not answered');
    await closed;
    expect(hanging.device.closed).toBe(1);
  });
});
