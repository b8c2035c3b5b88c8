import { BadRequest, boundsOf, type Clock, type Collection, type Page, type StorageView } from '@strongroom/engine-sdk';
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { Type, type Static } from 'typebox';

const Source = Type.Object({
  /** Where the source answered last. */
  address: Type.String(),
  /** RFC 3339. */
  first_time: Type.String(),
  last_time: Type.String(),
});
export type ImportSource = Static<typeof Source>;

/** What came of a thing of the source: HMACs of digests, never content. */
const Imported = Type.Object({ source: Type.String(), target: Type.String(), time: Type.String() });

/** The key of the HMACs. It never leaves the server, so that nobody can try values against what is stored. */
const Secret = Type.Object({ key: Type.String() });

/** SHA-256 of a thing at the source, and of the same thing here after the import; hexadecimal. */
export interface ObjectDigests {
  readonly source: string;
  readonly target: string;
}

const KEY = 'key';
const LONGEST_ID = 700;
const CHUNK = 256;
const DIGEST = /^[0-9a-f]{64}$/;

/** What imports brought from other servers: with it an import that runs again knows what changed since, and on which side. */
export class ImportRecords {
  readonly #storage: StorageView;
  readonly #clock: Clock;

  constructor({ storage, clock }: { storage: StorageView; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  get sources(): Collection<ImportSource> {
    return sources(this.#storage);
  }

  /** The names of what came from a source. */
  async names(source: string, page: Page): Promise<string[]> {
    return imported(this.#storage, source).list(boundsOf(page));
  }

  /** @throws BadRequest for what is no digest */
  async put(source: string, address: string, objects: Readonly<Record<string, unknown>>): Promise<void> {
    const digests = Object.entries(objects).map(([name, sent]): [string, ObjectDigests] => [idOf(name), digestsOf(name, sent)]);
    const time = this.#clock.now().toISOString();
    await this.#storage.transaction(async (tx) => {
      const key = await this.#key(tx, true);
      const before = await sources(tx).get(source);
      await sources(tx).put(source, { address, first_time: before?.first_time ?? time, last_time: time });
      const records = imported(tx, source);
      for (const [id, sent] of digests) {
        await records.put(id, { source: sealed(key, sent.source), target: sealed(key, sent.target), time });
      }
    });
  }

  /** Which digests are those of the last import, by name. Things that did not come from this source are left out. @throws BadRequest */
  async compare(source: string, objects: Readonly<Record<string, unknown>>): Promise<Record<string, { source: boolean; target: boolean }>> {
    const records = imported(this.#storage, source);
    const key = await this.#key(this.#storage, false);
    const found: [string, { source: boolean; target: boolean }][] = [];
    for (const [name, raw] of Object.entries(objects)) {
      const sent = digestsOf(name, raw);
      const known = await records.get(idOf(name));
      if (known && key)
        found.push([name, { source: same(sealed(key, sent.source), known.source), target: same(sealed(key, sent.target), known.target) }]);
    }
    return Object.fromEntries(found);
  }

  /** Forgets a source. What came from it stays. Unknown ones are no error. */
  async forget(source: string): Promise<void> {
    for (;;) {
      const ids = await imported(this.#storage, source).list({ limit: CHUNK });
      await this.#storage.transaction(async (tx) => {
        for (const id of ids) await imported(tx, source).delete(id);
        if (ids.length < CHUNK) await sources(tx).delete(source);
      });
      if (ids.length < CHUNK) return;
    }
  }

  #key(storage: Pick<StorageView, 'collection'>, make: true): Promise<Buffer>;
  #key(storage: Pick<StorageView, 'collection'>, make: false): Promise<Buffer | undefined>;
  async #key(storage: Pick<StorageView, 'collection'>, make: boolean): Promise<Buffer | undefined> {
    const secrets = storage.collection('import-key/', Secret);
    const known = (await secrets.get(KEY))?.key;
    if (known !== undefined || !make) return known === undefined ? undefined : Buffer.from(known, 'base64');
    const made = randomBytes(32);
    await secrets.put(KEY, { key: made.toString('base64') });
    return made;
  }
}

function sources(storage: Pick<StorageView, 'collection'>): Collection<ImportSource> {
  return storage.collection('import-source/', Source);
}

function imported(storage: Pick<StorageView, 'collection'>, source: string): Collection<Static<typeof Imported>> {
  return storage.collection(`import/${source}/`, Imported);
}

/** Names may be longer than a key of the store. */
function idOf(name: string): string {
  if (name === '' || name.includes('\0')) throw new BadRequest('objects: a name must not be empty, and holds no NUL');
  const bytes = Buffer.from(name);
  if (bytes.length <= LONGEST_ID) return name;
  return `${bytes.subarray(0, LONGEST_ID - 100).toString('utf8')}… ${createHash('sha256').update(bytes).digest('hex')}`;
}

function digestsOf(name: string, sent: unknown): ObjectDigests {
  const { source, target } = (typeof sent === 'object' && sent !== null ? sent : {}) as Partial<Record<keyof ObjectDigests, unknown>>;
  if (typeof source === 'string' && typeof target === 'string' && DIGEST.test(source) && DIGEST.test(target)) return { source, target };
  throw new BadRequest(`objects: ${JSON.stringify(name.slice(0, 200))} needs source and target, SHA-256 digests in hexadecimal`);
}

function sealed(key: Buffer, digest: string): string {
  return createHmac('sha256', key).update(digest).digest('hex');
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
