import { Socket } from 'node:net';

/** How many connections this process begins while `work` runs. */
export async function connectionsMadeBy(work: () => unknown): Promise<number> {
  const connect = Socket.prototype.connect;
  let dialled = 0;
  Socket.prototype.connect = function (this: Socket, ...details: unknown[]) {
    dialled++;
    return (connect as (...details: unknown[]) => Socket).apply(this, details);
  } as typeof connect;
  try {
    await work();
  } finally {
    Socket.prototype.connect = connect;
  }
  return dialled;
}
