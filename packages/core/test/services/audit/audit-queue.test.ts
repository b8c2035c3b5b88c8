import { describe, expect, test } from '@jest/globals';
import { AuditQueue, type QueueLimits } from '../../../src/services/audit/audit-queue.ts';
import { FakeDevice } from './fake-device.ts';
import { ManualClock } from './manual-clock.ts';

const limits: QueueLimits = { lines: 5, bytes: 1000, deadlineMillis: 5000 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function queue(device = new FakeDevice()): { device: FakeDevice; clock: ManualClock; queue: AuditQueue; states: string[] } {
  const clock = new ManualClock();
  const states: string[] = [];
  return {
    device,
    clock,
    states,
    queue: new AuditQueue(
      async () => device,
      clock,
      limits,
      (state) => states.push(state),
    ),
  };
}

describe('the queue before a device', () => {
  test('lines of the same moment share one write', async () => {
    const it = queue();
    await Promise.all(['a', 'b', 'c'].map((line) => it.queue.write(line)));
    expect(it.device.writes).toEqual([['a', 'b', 'c']]);
    expect(it.queue.status()).toMatchObject({ state: 'healthy', written: 3, waiting: 0 });
  });

  test('lines that come during a write go out together in the next one, each caller after its own', async () => {
    const it = queue();
    it.device.block();
    const done: string[] = [];
    const wait = (line: string): Promise<unknown> => it.queue.write(line).then(() => done.push(line));
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
    const it = queue();
    for (let count = 0; count < 50; count += 1) await it.queue.write(`${count}`);
    expect(it.device.lines).toHaveLength(50);
  });

  test('leaves no timer behind', async () => {
    const it = queue();
    await it.queue.write('a');
    expect(it.clock.waiting).toBe(0);
  });

  test('a write that hangs refuses its callers at the deadline, later ones at once, and is caught up when it goes on', async () => {
    const it = queue();
    it.device.block();
    const first = it.queue.write('a');
    await turn();
    const second = it.queue.write('b');
    it.clock.advance(4999);
    expect(it.queue.state).toBe('healthy');
    it.clock.advance(1);
    await expect(first).rejects.toThrow('the device has not answered within 5 seconds');
    await expect(second).rejects.toThrow('the device has not answered within 5 seconds');
    await expect(it.queue.write('c')).rejects.toThrow('the device has not answered within 5 seconds');
    expect(it.queue.status()).toMatchObject({ state: 'stalled', waiting: 3, last_error_time: '2030-01-02T03:04:10.678Z' });
    it.device.unblock();
    await turn();
    expect(it.device.lines).toEqual(['a', 'b', 'c']);
    expect(it.states).toEqual(['stalled', 'healthy']);
    await it.queue.write('d');
  });

  test('holds no more lines than allowed and counts the others', async () => {
    const it = queue();
    it.device.block();
    const writes = Array.from({ length: 8 }, (_, at) =>
      it.queue.write(`${at}`).then(
        () => 'written',
        (error: Error) => error.message,
      ),
    );
    expect(it.queue.status().dropped).toBe(3);
    it.device.unblock();
    expect(await Promise.all(writes)).toEqual([
      ...Array<string>(5).fill('written'),
      ...Array<string>(3).fill('too many lines wait for the device'),
    ]);
  });

  test('holds no more characters than allowed', async () => {
    const it = queue();
    it.device.block();
    const first = it.queue.write('x'.repeat(900));
    await expect(it.queue.write('x'.repeat(200))).rejects.toThrow('too many lines');
    it.device.unblock();
    await first;
    await it.queue.write('x'.repeat(1000));
  });

  test('a device that fails is tried again with the next line', async () => {
    const it = queue();
    it.device.error = new Error('no space left');
    await expect(it.queue.write('a')).rejects.toThrow('no space left');
    await expect(it.queue.write('b')).rejects.toThrow('no space left');
    expect(it.queue.status()).toMatchObject({ state: 'failing', failed: 2, last_error: 'no space left' });
    it.device.error = undefined;
    await it.queue.write('c');
    expect(it.device.lines).toEqual(['c']);
    expect(it.states).toEqual(['failing', 'healthy']);
  });

  test('a device that cannot be opened is opened with a later line', async () => {
    const device = new FakeDevice();
    let broken = true;
    const it = new AuditQueue(
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
    const good = queue();
    const written = good.queue.write('a');
    await good.queue.close();
    await written;
    expect(good.device.closed).toBe(1);
    await expect(good.queue.write('b')).rejects.toThrow('the device was closed');

    const hanging = queue();
    hanging.device.block();
    const lost = hanging.queue.write('a');
    await turn();
    const closed = hanging.queue.close();
    hanging.clock.advance(5000);
    await expect(lost).rejects.toThrow('the device has not answered');
    await closed;
    expect(hanging.device.closed).toBe(1);
  });
});
