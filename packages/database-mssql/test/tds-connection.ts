import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

export const PACKET = { batch: 0x01, rpc: 0x03, answer: 0x04, attention: 0x06, transaction: 0x0e, login: 0x10, prelogin: 0x12 } as const;

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

export interface Login {
  readonly username: string;
  readonly password: string;
  readonly appName: string;
  readonly database: string;
}

export interface TdsHandlers {
  /** A whole message. */
  message(type: number, payload: Buffer): void;
  closed(): void;
}

const HEADER = 8;
const END_OF_MESSAGE = 0x1;
/** Records of TLS start with 0x14 … 0x17; no packet type does. */
const isTlsRecord = (byte: number): boolean => byte >= 0x14 && byte <= 0x17;

/** One client's connection: packets, and TLS whose handshake travels inside of prelogin packets. */
export class TdsConnection {
  encrypted = false;
  readonly #socket: Socket;
  readonly #handlers: TdsHandlers;
  #received = Buffer.alloc(0);
  #message: Buffer[] = [];
  #tls: { readonly wire: Duplex; readonly secure: TLSSocket; shaken: boolean } | undefined;

  constructor(socket: Socket, handlers: TdsHandlers) {
    this.#socket = socket;
    this.#handlers = handlers;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#fromWire(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => handlers.closed());
  }

  answer(...tokens: Buffer[]): void {
    this.send(PACKET.answer, Buffer.concat(tokens));
  }

  send(type: number, payload: Buffer): void {
    const packet = asPacket(type, payload);
    if (this.#tls) this.#tls.secure.write(packet);
    else this.#socket.write(packet);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** From here on the client shakes hands. */
  startTls({ cert, key }: Identity): void {
    let flight: Buffer[] = [];
    const wire: Duplex = new Duplex({
      read: () => undefined,
      write: (bytes: Buffer, _, next) => {
        if (this.#tls!.shaken) this.#socket.write(bytes);
        else {
          // The client takes each flight as one message.
          if (flight.length === 0)
            setImmediate(() => {
              this.#socket.write(asPacket(PACKET.prelogin, Buffer.concat(flight)));
              flight = [];
            });
          flight.push(bytes);
        }
        next();
      },
    });
    const secure = new TLSSocket(wire, { isServer: true, secureContext: createSecureContext({ cert, key, maxVersion: 'TLSv1.2' }) });
    secure.on('data', (bytes: Buffer) => this.#fromClear(bytes));
    secure.on('secure', () => (this.encrypted = true));
    secure.on('error', () => this.#socket.destroy());
    this.#tls = { wire, secure, shaken: false };
  }

  #fromWire(bytes: Buffer): void {
    const tls = this.#tls;
    if (!tls) return this.#fromClear(bytes);
    if (tls.shaken || isTlsRecord(bytes[0]!)) {
      tls.shaken = true;
      tls.wire.push(bytes);
    } else this.#fromClear(bytes);
  }

  #fromClear(bytes: Buffer): void {
    this.#received = Buffer.concat([this.#received, bytes]);
    while (this.#received.length >= HEADER) {
      const length = this.#received.readUInt16BE(2);
      if (this.#received.length < length) return;
      const [type, status] = [this.#received[0]!, this.#received[1]!];
      this.#message.push(this.#received.subarray(HEADER, length));
      this.#received = this.#received.subarray(length);
      if ((status & END_OF_MESSAGE) === 0) continue;
      const payload = Buffer.concat(this.#message);
      this.#message = [];
      if (type === PACKET.prelogin && this.#tls && !this.#tls.shaken) this.#tls.wire.push(payload);
      else this.#handlers.message(type, payload);
    }
  }
}

function asPacket(type: number, payload: Buffer): Buffer {
  const header = Buffer.from([type, END_OF_MESSAGE, 0, 0, 0, 0, 1, 0]);
  header.writeUInt16BE(HEADER + payload.length, 2);
  return Buffer.concat([header, payload]);
}

export const ENCRYPT = { on: 1, notSupported: 2, required: 3 } as const;
const OPTION = { version: 0, encryption: 1 };
const OPTIONS_END = 0xff;

/** What a client says of encryption. */
export function encryptionWish(prelogin: Buffer): number | undefined {
  for (let at = 0; prelogin[at] !== OPTIONS_END; at += 5) {
    if (prelogin[at] === OPTION.encryption) return prelogin[prelogin.readUInt16BE(at + 1)];
  }
  return undefined;
}

export function preloginAnswer(encryption: number): Buffer {
  const version = Buffer.from([16, 0, 0, 0, 0, 0]);
  const head = Buffer.alloc(11);
  head.writeUInt8(OPTION.version, 0);
  head.writeUInt16BE(head.length, 1);
  head.writeUInt16BE(version.length, 3);
  head.writeUInt8(OPTION.encryption, 5);
  head.writeUInt16BE(head.length + version.length, 6);
  head.writeUInt16BE(1, 8);
  head.writeUInt8(OPTIONS_END, 10);
  return Buffer.concat([head, version, Buffer.from([encryption])]);
}

/** LOGIN7: a table of offsets, and texts in UTF-16; the password is scrambled. */
export function readLogin(payload: Buffer): Login {
  const bytes = (at: number): Buffer => {
    const offset = payload.readUInt16LE(at);
    return payload.subarray(offset, offset + 2 * payload.readUInt16LE(at + 2));
  };
  const clear = Buffer.from(bytes(44).map((byte) => ((byte ^ 0xa5) >> 4) | (((byte ^ 0xa5) & 0xf) << 4)));
  return {
    username: bytes(40).toString('ucs2'),
    password: clear.toString('ucs2'),
    appName: bytes(48).toString('ucs2'),
    database: bytes(68).toString('ucs2'),
  };
}

/** A batch's text follows headers whose length comes first; one of them names the transaction. */
export function readBatch(payload: Buffer): { sql: string; transaction: Buffer } {
  const length = payload.readUInt32LE(0);
  return { sql: payload.subarray(length).toString('ucs2'), transaction: payload.subarray(10, 18) };
}
