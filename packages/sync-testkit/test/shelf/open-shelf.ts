import {
  formatMark,
  NameTaken,
  OWNER_TAG,
  parseMark,
  SessionCalls,
  SYNCED_TAG,
  type DestinationHost,
  type DestinationSession,
  type RemoteSecret,
} from '@strongroom/sync-sdk';
import { request } from 'undici';
import { ShelfRefusal, translate } from './shelf-errors.ts';
import type { ShelfConnection } from './shelf-destination.ts';

/** A secret as Shelf shows it: never its value. */
interface Held {
  readonly name: string;
  readonly version: string;
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

export async function openShelf(connection: ShelfConnection, host: DestinationHost): Promise<DestinationSession> {
  const { endpoint, access_token, shelf } = connection;
  const dispatcher = await host.network.dispatcher();
  const calls = new SessionCalls((error) => translate(error, host.now()), [access_token]);

  async function call(method: 'GET' | 'PUT' | 'DELETE', path: string, signal: AbortSignal, more: object = {}, body?: object) {
    const headers = { authorization: `Bearer ${access_token}`, ...more };
    const text = body === undefined ? null : JSON.stringify(body);
    const answer = await request(`${endpoint}/v1/${shelf}${path}`, { method, headers, body: text, signal, dispatcher });
    const json = (await answer.body.json().catch(() => ({}))) as Record<string, unknown>;
    if (answer.statusCode >= 400) throw new ShelfRefusal(answer.statusCode, answer.headers, json);
    return json;
  }

  async function* listed(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    let after = '';
    do {
      const page = (await call('GET', `?after=${after}`, signal)) as { secrets?: Held[]; next?: string };
      for (const held of page.secrets ?? []) if (remote(held).mark?.destination === destination) yield remote(held);
      after = page.next ?? '';
    } while (after !== '');
  }

  return {
    read: ({ name, signal }) =>
      calls.run(signal, async () => {
        const held = await call('GET', `/${name}`, signal).catch(unless('nothing'));
        return held && remote(held as unknown as Held);
      }),
    put: ({ name, value, mark, tags, current, signal }) =>
      calls.run(
        signal,
        async () => {
          const labels = { ...tags, [SYNCED_TAG]: '', [OWNER_TAG]: formatMark(mark) };
          const condition = current?.revision === undefined ? { 'if-none-match': '*' } : { 'if-match': current.revision };
          const held = await call('PUT', `/${name}`, signal, condition, { value, labels }).catch(unless('changed'));
          if (held === undefined) throw new NameTaken(`somebody else has changed ${name} meanwhile`);
          return remote(held as unknown as Held);
        },
        value,
      ),
    remove: ({ name, signal }) => calls.run(signal, async () => void (await call('DELETE', `/${name}`, signal).catch(unless('nothing')))),
    list: ({ destination, signal }) => calls.each(signal, () => listed(destination, signal)),
    close: async () => void calls.close(),
  };
}

function remote({ name, version, id, labels }: Held): RemoteSecret {
  const mark = parseMark(labels[OWNER_TAG]);
  return { name, revision: version, identity: id, ...(mark ? { mark } : {}) };
}

/** Nothing in the place of this refusal. By its code: a shelf that is not there is a 404 too, and no free name. */
function unless(code: string) {
  return (error: unknown): undefined => {
    if (!(error instanceof ShelfRefusal) || error.code !== code) throw error;
  };
}
