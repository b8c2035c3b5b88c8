import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, isIPv6, type Socket } from 'node:net';
import { API_VERSION, BadRequest, decodeValue, type Clock } from '@strongroom/engine-sdk';
import type { AuditDevice, AuditDevicePlugin } from './audit-device.ts';

const types = ['tcp', 'udp', 'unix'] as const;

export interface SocketOptions {
  readonly type: (typeof types)[number];
  /** `host:port`, or the path of a unix socket. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  /** For connecting as well as for writing. */
  readonly timeoutMillis: number;
}

/** @throws BadRequest naming the option. */
export function socketOptions(options: Readonly<Record<string, string>>): SocketOptions {
  const address = options['address'];
  if (!address) throw new BadRequest('address is required');
  const type = types.find((known) => known === (options['socket_type'] || 'tcp'));
  if (!type)
    throw new BadRequest(`socket_type ${JSON.stringify(options['socket_type'])} is not supported; must be one of ${types.join(', ')}`);
  const timeoutMillis = seconds(options['write_timeout'] || '2s') * 1000;
  if (type === 'unix') return { type, address, host: '', port: 0, timeoutMillis };
  const parts = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(address);
  const port = Number(parts?.[3]);
  if (!parts || !(port >= 1 && port <= 65535))
    throw new BadRequest(`address ${JSON.stringify(address)} must be a host and a port such as "127.0.0.1:9090"`);
  return { type, address, host: parts[1] ?? (parts[2] as string), port, timeoutMillis };
}

function seconds(text: string): number {
  let value: unknown;
  try {
    value = decodeValue('duration', text);
  } catch (error) {
    throw new BadRequest(`write_timeout: ${(error as Error).message}`);
  }
  if (typeof value !== 'number' || value < 1) throw new BadRequest('write_timeout must be at least one second');
  return value;
}

/** Type `socket`: `address`, `socket_type` (tcp, udp, unix), `write_timeout`. */
export const socketAudit: AuditDevicePlugin = {
  name: 'socket',
  kind: 'audit',
  apiVersion: API_VERSION,
  check: (options) => void socketOptions(options),
  open: (options, { clock }) => {
    const parsed = socketOptions(options);
    return Promise.resolve(parsed.type === 'udp' ? new DatagramDevice(parsed) : new StreamDevice(parsed, clock));
  },
};

/** Lines over TCP or a unix socket. A write that fails is tried once more on a new connection. */
export class StreamDevice implements AuditDevice {
  readonly #options: SocketOptions;
  readonly #clock: Clock;
  #socket: Socket | undefined;
  #closed = false;

  constructor(options: SocketOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  async write(lines: readonly string[]): Promise<void> {
    const text = `${lines.join('\n')}\n`;
    const reused = this.#socket !== undefined;
    try {
      await this.#send(text);
    } catch (error) {
      if (!reused || this.#closed) throw error;
      await this.#send(text);
    }
  }

  reopen(): Promise<void> {
    this.#drop();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#drop();
    return Promise.resolve();
  }

  async #send(text: string): Promise<void> {
    if (this.#closed) throw new Error('the device was closed');
    const socket = (this.#socket ??= this.#connect());
    try {
      await this.#settled(socket, 'connect to', (done) => (socket.connecting ? socket.once('connect', () => done()) : done()));
      await this.#settled(socket, 'write to', (done) => socket.write(text, (error) => done(error ?? undefined)));
    } catch (error) {
      socket.destroy();
      if (this.#socket === socket) this.#socket = undefined;
      throw error;
    }
  }

  #connect(): Socket {
    const { type, address, host, port } = this.#options;
    const socket = type === 'unix' ? connect({ path: address }) : connect({ host, port, noDelay: true });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    return socket.resume().unref();
  }

  #settled(socket: Socket, what: string, begin: (done: (error?: Error) => void) => void): Promise<void> {
    const { type, address, timeoutMillis } = this.#options;
    return new Promise((resolve, reject) => {
      const late = (): void => finish(new Error(`no answer within ${timeoutMillis / 1000} seconds`));
      const failed = (error: Error): void => finish(error);
      const gone = (): void => finish(new Error('the connection was closed'));
      const cancel = this.#clock.after(timeoutMillis, late);
      socket.on('error', failed).on('close', gone);
      function finish(error?: Error): void {
        cancel();
        socket.off('error', failed).off('close', gone);
        if (error) reject(new Error(`cannot ${what} ${type} ${address}: ${error.message}`, { cause: error }));
        else resolve();
      }
      if (socket.destroyed) gone();
      else begin(finish);
    });
  }

  #drop(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** One datagram a line. That it arrived is never known. */
export class DatagramDevice implements AuditDevice {
  readonly #options: SocketOptions;
  #socket: DatagramSocket | undefined;
  #closed = false;

  constructor(options: SocketOptions) {
    this.#options = options;
  }

  async write(lines: readonly string[]): Promise<void> {
    if (this.#closed) throw new Error('the device was closed');
    const socket = (this.#socket ??= this.#create());
    await Promise.all(lines.map((line) => this.#send(socket, line)));
  }

  reopen(): Promise<void> {
    this.#drop();
    return Promise.resolve();
  }

  close(): Promise<void> {
    this.#closed = true;
    this.#drop();
    return Promise.resolve();
  }

  #create(): DatagramSocket {
    const socket = createSocket(isIPv6(this.#options.host) ? 'udp6' : 'udp4');
    socket.on('error', () => {});
    return socket.unref();
  }

  #send(socket: DatagramSocket, line: string): Promise<void> {
    const { host, port, address } = this.#options;
    return new Promise((resolve, reject) => {
      socket.send(`${line}\n`, port, host, (error) => {
        if (error) reject(new Error(`cannot write to udp ${address}: ${error.message}`, { cause: error }));
        else resolve();
      });
    });
  }

  #drop(): void {
    this.#socket?.close();
    this.#socket = undefined;
  }
}
