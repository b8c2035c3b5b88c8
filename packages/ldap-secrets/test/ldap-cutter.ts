import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What is lost of a call: the request before it reaches the server, or the answer. */
export type Loss = 'request' | 'answer';

/** Stands between client and server, counts LDAP messages of clients, and cuts at the one that a test names. */
export interface LdapCutter {
  readonly url: string;
  readonly port: number;
  /** Calls seen since the last `cutAt`. */
  readonly calls: number;
  /** From now on, cuts all connections at the n-th call (0 is the next one), once. A change is an add, a modify, a rename or a deletion. */
  cutAt(n: number, loss: Loss, counted?: 'calls' | 'changes'): void;
  /** Resolves when it has cut. */
  cut(): Promise<void>;
  /** From now on requests are taken and not passed on: all of them, or changes alone. */
  stall(counted?: 'calls' | 'changes'): void;
  /** Resolves when a request was kept back. */
  stalled(): Promise<void>;
  /** Passes on what was kept back, and everything from now on. */
  resume(): void;
  /** Requests that change the entry of the first name reach that of the second, which is as long; '' for none. */
  redirect(from: string, to: string): void;
  /** Nobody gets through until `open`. */
  shut(): void;
  open(): void;
  stop(): Promise<void>;
}

const CHANGES = new Set([0x66, 0x68, 0x4a, 0x6c]);
/** Has no answer, and nothing depends on it: it is passed on and not counted. */
const UNBIND = 0x42;

/** With `opaque` for TLS, whose messages cannot be read: each piece of data from a client counts as a call. */
export async function startLdapCutter(target: number, host = '127.0.0.1', { opaque = false } = {}): Promise<LdapCutter> {
  const sockets = new Set<Socket>();
  let calls = 0;
  let plan: { left: number; loss: Loss; counted: 'calls' | 'changes' } | undefined;
  let isShut = false;
  let redirected: { from: Buffer; to: Buffer } | undefined;
  let stalls: 'calls' | 'changes' | undefined;
  let kept: (() => void)[] = [];
  let keptOne: () => void = () => undefined;
  let noticed: () => void = () => undefined;
  const dropAll = (): void => {
    for (const socket of sockets) socket.destroy();
    noticed();
  };
  const misled = (frame: Buffer): Buffer => {
    const at = redirected && CHANGES.has(operationOf(frame)) ? frame.indexOf(redirected.from) : -1;
    if (at >= 0) redirected!.to.copy(frame, at);
    return frame;
  };
  const server = createServer((near) => {
    if (isShut) return void near.destroy();
    const far = connect(target, host);
    let loseAnswer = false;
    let buffer = Buffer.alloc(0);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk]);
      const sizeOf = opaque ? (data: Buffer): number => data.length : frameSize;
      for (let size = sizeOf(buffer); size > 0; size = sizeOf(buffer)) {
        const frame = misled(buffer.subarray(0, size));
        buffer = buffer.subarray(size);
        if (!opaque && operationOf(frame) === UNBIND) {
          far.write(frame);
          continue;
        }
        calls += 1;
        if (stalls === 'calls' || (stalls === 'changes' && CHANGES.has(operationOf(frame)))) {
          kept.push(() => void far.write(frame));
          keptOne();
          continue;
        }
        const counts = plan && (plan.counted === 'calls' || CHANGES.has(operationOf(frame)));
        if (plan && counts && plan.left === 0) {
          const { loss } = plan;
          plan = undefined;
          if (loss === 'request') return dropAll();
          loseAnswer = true;
        } else if (plan && counts) plan.left -= 1;
        far.write(frame);
      }
    });
    far.on('data', (chunk) => {
      if (loseAnswer) dropAll();
      else near.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `ldap://127.0.0.1:${port}`,
    port,
    get calls() {
      return calls;
    },
    cutAt: (left, loss, counted = 'calls') => {
      calls = 0;
      plan = { left, loss, counted };
    },
    cut: async () => new Promise((resolve) => (noticed = resolve)),
    redirect: (from, to) => void (redirected = from === '' ? undefined : { from: Buffer.from(from), to: Buffer.from(to) }),
    stall: (counted = 'calls') => void (stalls = counted),
    stalled: async () => (kept.length > 0 ? undefined : new Promise((resolve) => (keptOne = resolve))),
    resume: () => {
      stalls = undefined;
      for (const pass of kept) pass();
      kept = [];
    },
    shut: () => {
      isShut = true;
      dropAll();
    },
    open: () => void (isShut = false),
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Bytes of the first message, 0 while it is not whole. */
function frameSize(buffer: Buffer): number {
  const short = buffer[1];
  if (short === undefined) return 0;
  const extra = short < 0x80 ? 0 : short & 0x7f;
  if (buffer.length < 2 + extra) return 0;
  const length = extra === 0 ? short : buffer.readUIntBE(2, extra);
  const size = 2 + extra + length;
  return buffer.length >= size ? size : 0;
}

/** The tag of the operation, which follows the number of the message. */
function operationOf(frame: Buffer): number {
  const header = frame[1]! < 0x80 ? 2 : 2 + (frame[1]! & 0x7f);
  return frame[header + 2 + frame[header + 1]!]!;
}
