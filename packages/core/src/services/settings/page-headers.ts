import { BadRequest, type Collection, type StorageView } from '@strongroom/engine-sdk';
import { Type } from 'typebox';

const HeaderRecord = Type.Object({ values: Type.Array(Type.String()) });
const PREFIX = 'page-header/';
/** What RFC 9110 allows in a field name. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** And in a value. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What says how a page is sent, or belongs to the connection: the server sets these by itself, and never sends another value. */
const OF_THE_SERVER: ReadonlySet<string> = new Set([
  ...['cache-control', 'content-encoding', 'content-length', 'content-range', 'content-type', 'date', 'etag', 'vary'],
  ...[
    'connection',
    'keep-alive',
    'proxy-authenticate',
    'proxy-authorization',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ],
]);
/** More headers, and longer ones, than a page needs. */
const MOST = 100;
const LONGEST = 8_192;

/** Headers that operators add to the pages of the console. Names are compared without regard to case. */
export class PageHeaders {
  readonly #storage: StorageView;
  #values: ReadonlyMap<string, readonly string[]> = new Map();

  constructor(storage: StorageView) {
    this.#storage = storage;
  }

  /** By name, in the order of names. Asked for each page. */
  get all(): ReadonlyMap<string, readonly string[]> {
    return this.#values;
  }

  /** After unsealing, and whenever another process changed one. */
  async load(): Promise<void> {
    const entries = await this.#records(this.#storage).entries();
    this.#values = new Map(entries.map(([name, { values }]) => [shownName(name), values]));
  }

  get(name: string): readonly string[] | undefined {
    return this.#values.get(shownName(name));
  }

  /** @throws BadRequest for what is no header, or one that this API defines */
  async put(name: string, values: readonly string[]): Promise<void> {
    if (!NAME.test(name)) throw new BadRequest(`header ${JSON.stringify(name)} is not a header name`);
    if (/^x-vault-/i.test(name)) throw new BadRequest('X-Vault headers cannot be set');
    if (/^x-strongroom-/i.test(name)) throw new BadRequest('X-Strongroom headers cannot be set');
    if (OF_THE_SERVER.has(name.toLowerCase())) {
      throw new BadRequest(`header: ${shownName(name)} says how an answer is sent, so the server sets it; choose another header`);
    }
    const wrong = values.find((value) => !VALUE.test(value) || value.length > LONGEST);
    if (wrong !== undefined) throw new BadRequest(`values: ${JSON.stringify(wrong.slice(0, 100))} is no value of a header`);
    await this.#storage.transaction(async (tx) => {
      const records = this.#records(tx);
      const known = await records.list();
      if (known.length >= MOST && !known.includes(name.toLowerCase()))
        throw new BadRequest(`there are ${MOST} headers, which is as many as there may be`);
      await records.put(name.toLowerCase(), { values: [...values] });
    });
    await this.load();
  }

  /** Removing what is not there succeeds. */
  async delete(name: string): Promise<void> {
    await this.#records(this.#storage).delete(name.toLowerCase());
    await this.load();
  }

  #records(storage: Pick<StorageView, 'collection'>): Collection<{ values: string[] }> {
    return storage.collection(PREFIX, HeaderRecord, { cached: true });
  }
}

/** As headers are usually written: `X-Frame-Options`. */
function shownName(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
