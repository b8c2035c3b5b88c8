import type { Slapd } from '@strongroom/lab';
import ldapjs from 'ldapjs';
import { connect, type Socket } from 'node:net';

const WORKERS = 16;
const BIND_RESPONSE = 0x61;
const SEARCH_DONE = 0x65;

/** What a login asks of the directory: the search for the user, the bind, the search for the groups. */
export interface Questions {
  readonly user: string;
  readonly bindDn: string;
  readonly password: string;
  readonly people: string;
  readonly groups: string;
}

type Encodable = new (options: object) => { toBer(): { readonly buffer: Buffer } };
/** What the library's types leave out. */
const ldap = ldapjs as unknown as Record<'BindRequest' | 'SearchRequest' | 'EqualityFilter', Encodable>;

/**
 * The logins per second that the directory itself can answer: 16 clients, each with a connection of the service account and one for users, send the
 * requests of logins, encoded beforehand, one after another, and do nothing with the answers.
 */
export async function bareLogins(slapd: Slapd, questions: readonly Questions[], seconds: number): Promise<number> {
  const encoded = questions.map(encode);
  const service = bind(slapd.adminDn, slapd.adminPassword);
  const pairs = await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      const [searching, binding] = [await BareConnection.open(slapd.port), await BareConnection.open(slapd.port)];
      await searching.ask(service);
      return { searching, binding };
    }),
  );
  const began = performance.now();
  let done = 0;
  try {
    await Promise.all(
      pairs.map(async ({ searching, binding }, i) => {
        for (let n = i; performance.now() - began < seconds * 1_000; n += WORKERS) {
          const { find, check, list } = encoded[n % encoded.length]!;
          await searching.ask(find);
          await binding.ask(check);
          await searching.ask(list);
          done += 1;
        }
      }),
    );
    return Math.round((done * 1_000) / (performance.now() - began));
  } finally {
    for (const { searching, binding } of pairs) for (const connection of [searching, binding]) connection.close();
  }
}

function encode({ user, bindDn, password, people, groups }: Questions): { find: Buffer; check: Buffer; list: Buffer } {
  return {
    find: search(people, 'uid', user, ['uid', 'entryUUID', 'objectGUID'], 2),
    check: bind(bindDn, password),
    list: search(groups, 'member', bindDn, ['cn'], 0),
  };
}

function bind(name: string, credentials: string): Buffer {
  return new ldap.BindRequest({ messageId: 1, name, credentials }).toBer().buffer;
}

function search(baseObject: string, attribute: string, value: string, attributes: readonly string[], sizeLimit: number): Buffer {
  const filter = new ldap.EqualityFilter({ attribute, value });
  return new ldap.SearchRequest({ messageId: 1, baseObject, scope: 'sub', filter, attributes, sizeLimit }).toBer().buffer;
}

/** A connection that does one request at a time, and reads of the answers no more than where they end and whether they are good. */
class BareConnection {
  readonly #socket: Socket;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: () => void; reject: (error: Error) => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => this.#waiting?.reject(new Error('the directory hung up')));
  }

  static async open(port: number): Promise<BareConnection> {
    const socket = connect({ host: '127.0.0.1', port });
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new BareConnection(socket);
  }

  ask(request: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    for (;;) {
      const message = content(this.#received, 0);
      if (message === undefined || this.#received.length < message.end) return;
      const operation = content(this.#received, content(this.#received, message.start)!.end)!;
      const code = this.#received[operation.start + 2];
      this.#received = this.#received.subarray(message.end);
      if (operation.tag !== BIND_RESPONSE && operation.tag !== SEARCH_DONE) continue;
      if (code === 0) this.#waiting?.resolve();
      else this.#waiting?.reject(new Error(`the directory answered ${code}`));
    }
  }
}

/** Where the content of the BER element at `at` begins and ends; undefined when its header is not all there. */
function content(bytes: Buffer, at: number): { tag: number; start: number; end: number } | undefined {
  const [tag, first] = [bytes[at], bytes[at + 1]];
  if (tag === undefined || first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  const start = at + 2 + more;
  if (bytes.length < start) return undefined;
  return { tag, start, end: start + (more === 0 ? first : bytes.readUIntBE(at + 2, more)) };
}
