import {
  BadRequest,
  type EnginePackage,
  f,
  type Intent,
  issue,
  leased,
  ListedKeys,
  NoContent,
  path,
  type Schedule,
  type SecretType,
} from '@strongroom/engine-sdk';
import { Type } from 'typebox';

const Note = Type.Object({ text: Type.String(), pin: Type.String(), keep: Type.Number() });
const Key = Type.Object({ note: Type.String(), key: Type.String() });

/** Faults that an engine may have; each must make one case of the contract fail. */
export type Fault =
  | 'crashes on garbage'
  | 'does not describe a field'
  | 'shows a secret'
  | 'leaves a lease behind'
  | 'does not say what it leaves outside'
  | 'tells secrets of what it leaves outside'
  | 'keeps state in memory'
  | 'shares state between mounts'
  | 'closes once'
  | 'two secret types of one name';

const shared = new Map<string, { text: string; pin: string; keep: number }>();

/** A small engine with everything: notes that can be read with a leased key, and that vanish when their time is over. */
export function notesEngine(fault?: Fault): EnginePackage {
  const key: SecretType<typeof Key> = {
    type: 'key',
    internal: Key,
    renew: async () => ({ ttl: 600, maxTtl: 3_600 }),
    revoke: async () => {
      if (fault === 'leaves a lease behind') throw new Error('cannot be revoked');
    },
    ...(fault === 'does not say what it leaves outside'
      ? {}
      : {
          outside: ({ note, key }) => ({
            kind: 'note key',
            name: note,
            ...(fault === 'tells secrets of what it leaves outside' ? { detail: `its key is ${key}` } : {}),
          }),
        }),
  };
  const making: Intent<typeof Key> = { kind: 'make-key', entry: Key, minAgeSeconds: 60, rollback: async () => undefined };
  const vanish: Schedule<typeof Key> = {
    kind: 'vanish',
    entry: Key,
    run: async ({ note }, storage) => {
      await storage.collection('note/', Note).delete(note);
      return undefined;
    },
  };
  return {
    name: 'notes',
    kind: 'secret',
    apiVersion: 2,
    version: '1.0.0',
    create: (host) => {
      const stored = host.storage.collection('note/', Note);
      const memory = fault === 'shares state between mounts' ? shared : new Map<string, { text: string; pin: string; keep: number }>();
      const volatile = fault === 'keeps state in memory' || fault === 'shares state between mounts';
      let closed = false;
      const get = async (name: string) => (volatile ? memory.get(name) : stored.get(name));
      return {
        secrets: fault === 'two secret types of one name' ? [key, { ...key }] : [key],
        intents: [making],
        schedules: [vanish],
        close: async () => {
          if (closed && fault === 'closes once') throw new Error('closed already');
          closed = true;
        },
        paths: [
          path('notes', { synopsis: 'Names of the notes.', description: 'In order.', fields: {} }).list({
            summary: 'Lists notes.',
            response: ListedKeys,
            handle: async () => ({ data: { keys: volatile ? [...memory.keys()] : await stored.list() } }),
          }),
          path('notes/{name}', {
            synopsis: 'A note.',
            description: 'Kept until its time is over.',
            fields: {
              name: f.name('The note.'),
              text: f.string(fault === 'does not describe a field' ? '' : 'What it says.'),
              pin: f.secret('Needed for nothing.'),
              keep: f.duration('For how long; 0 for ever.', { default: 0 }),
            },
          })
            .read({
              summary: 'Reads a note.',
              response: Type.Object({ text: Type.String(), keep: Type.Number(), pin: Type.Optional(Type.String()) }),
              handle: async ({ data }) => {
                const note = await get(data.name);
                if (!note) return undefined;
                const { pin, ...open } = note;
                return { data: fault === 'shows a secret' ? { ...open, pin } : open };
              },
            })
            .upsert({
              summary: 'Writes a note.',
              response: NoContent,
              exists: async ({ data }) => (await get(data.name)) !== undefined,
              handle: async ({ data }) => {
                const { name, pin = '', keep } = data;
                if (fault === 'crashes on garbage') (data.text as string).trimStart();
                const text = data.text ?? '';
                if (volatile) memory.set(name, { text, pin, keep });
                else if (text.length > 1_000) throw new BadRequest('text is longer than 1000 characters');
                else {
                  await host.storage.transaction(async (tx) => {
                    await tx.collection('note/', Note).put(name, { text, pin, keep });
                    const at = new Date(host.clock.millis() + Math.min(keep, 10 ** 9) * 1_000);
                    if (keep > 0) await tx.schedule(vanish, name, at, { note: name, key: '' });
                  });
                }
                return undefined;
              },
            })
            .delete({
              summary: 'Deletes a note.',
              response: NoContent,
              handle: async ({ data }) => {
                await stored.delete(data.name);
                return undefined;
              },
            }),
          path('keys/{name}', { synopsis: 'Keys.', description: 'A key to a note, leased.', fields: { name: f.name('The note.') } }).read({
            summary: 'Issues a key.',
            response: leased(Type.Object({ key: Type.String() })),
            handle: async ({ data }) => {
              if (!(await get(data.name))) return undefined;
              const made = { note: data.name, key: Buffer.from(host.randomBytes(9)).toString('base64url') };
              const fulfils = await host.storage.transaction(async (tx) => tx.intend(making, made));
              return {
                data: { key: made.key },
                secret: issue(key, { internal: made, terms: { ttl: 600, maxTtl: 3_600 }, fulfils }),
              };
            },
          }),
        ],
      };
    },
  };
}
