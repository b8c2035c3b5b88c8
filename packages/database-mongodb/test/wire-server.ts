import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { BSON } from 'mongodb';

type Document = BSON.Document;

/** A server that speaks MongoDB's wire protocol, remembers the commands it is sent and answers as the test says. */
export interface WireServer {
  readonly port: number;
  /** All commands in order, but for those by which drivers look after connections. */
  readonly commands: Document[];
  /** The answers to commands by their names, instead of `{ ok: 1 }`. */
  readonly answers: Map<string, Document>;
  close(): Promise<void>;
}

const OP_REPLY = 1;
const OP_QUERY = 2004;
const OP_MSG = 2013;
const HOUSEKEEPING = new Set(['hello', 'ismaster', 'isMaster', 'endSessions']);
const HELLO = { isWritablePrimary: true, ismaster: true, maxWireVersion: 25, minWireVersion: 0, maxBsonObjectSize: 16_777_216, ok: 1 };

export async function startWireServer(tls?: TlsOptions): Promise<WireServer> {
  const commands: Document[] = [];
  const answers = new Map<string, Document>();
  const open = new Set<Socket>();
  const serve = (socket: Socket): void => {
    open.add(socket);
    let unread = Buffer.alloc(0);
    socket.on('error', () => undefined).on('close', () => open.delete(socket));
    socket.on('data', (data) => {
      unread = Buffer.concat([unread, data]);
      while (unread.length >= 4 && unread.length >= unread.readInt32LE(0)) {
        const message = unread.subarray(0, unread.readInt32LE(0));
        unread = unread.subarray(message.length);
        socket.write(answer(message));
      }
    });
  };
  const answer = (message: Buffer): Buffer => {
    const { command, reply } = message.readInt32LE(12) === OP_QUERY ? readQuery(message) : readMsg(message);
    const [name] = Object.keys(command);
    if (HOUSEKEEPING.has(name!)) return reply(HELLO);
    commands.push(command);
    return reply(answers.get(name!) ?? { ok: 1 });
  };
  const server: Server = tls ? createTlsServer(tls, serve) : createTcpServer(serve);
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    commands,
    answers,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

interface Question {
  readonly command: Document;
  reply(document: Document): Buffer;
}

/** Header, flags, then sections; drivers put a command into one section of kind 0. */
function readMsg(message: Buffer): Question {
  if (message.readInt32LE(12) !== OP_MSG || message[20] !== 0) throw new Error('not a message of one section');
  return {
    command: BSON.deserialize(message.subarray(21)),
    reply: (document) => frame(OP_MSG, message, Buffer.concat([Buffer.alloc(5), BSON.serialize(document)])),
  };
}

/** Drivers still begin with the old kind of message, since they do not know yet whom they talk to. */
function readQuery(message: Buffer): Question {
  const nameEnd = message.indexOf(0, 20);
  return {
    command: BSON.deserialize(message.subarray(nameEnd + 1 + 8)),
    reply: (document) => {
      const head = Buffer.alloc(20);
      head.writeInt32LE(1, 16);
      return frame(OP_REPLY, message, Buffer.concat([head, BSON.serialize(document)]));
    },
  };
}

function frame(opcode: number, request: Buffer, body: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + body.length, 0);
  header.writeInt32LE(request.readInt32LE(4), 8);
  header.writeInt32LE(opcode, 12);
  return Buffer.concat([header, body]);
}
