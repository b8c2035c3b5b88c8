import { f } from '@strongroom/engine-sdk';
import type { SyncDestinationPlugin } from '@strongroom/sync-sdk';
import { Type, type Static } from 'typebox';

const ShelfConnection = Type.Object({
  endpoint: f.string('Address of the service.', { default: 'https://shelf.example' }),
  access_token: f.secret('Token that may write to the shelf.', { required: true }),
  shelf: f.string('The shelf that the secrets lie on.', { required: true }),
});
export type ShelfConnection = Static<typeof ShelfConnection>;

/** Secret sync to Shelf: `sys/sync/destinations/shelf/<name>`. */
export const shelfDestination: SyncDestinationPlugin<typeof ShelfConnection> = {
  kind: 'sync-destination',
  name: 'shelf',
  title: 'Shelf',
  apiVersion: 2,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href],
  connection: ShelfConnection,
  fixed: ['endpoint', 'shelf'],
  options: { customTags: true, granularity: 'secret-path', secretNameTemplate: '{{ .MountAccessor }}.{{ .SecretPath }}' },
  ownership: 'marked',
  limits: () => ({
    name: {
      pattern: /[a-z0-9][a-z0-9._-]*/,
      maxLength: 100,
      rule: 'small letters, digits and any of "._-", beginning with a letter or digit, at most 100 characters',
      caseSensitive: true,
      normalize: (rendered) =>
        rendered
          .toLowerCase()
          .replaceAll(/[^a-z0-9._-]/g, '-')
          .replace(/^[._-]+/, ''),
    },
    valueMaxBytes: 4_096,
    emptyValue: true,
    // 20 in all, of which two are our own.
    tags: { maxCount: 18, key: /^.{1,60}$/, value: /^.{0,200}$/, rule: 'keys of at most 60 and values of at most 200 characters' },
    pace: { perSecond: 20, burst: 20 },
  }),
  check: ({ endpoint, shelf }) => [
    ...(/^https?:\/\/[^/]+$/.test(endpoint) ? [] : ['endpoint must look like https://shelf.example']),
    ...(/^[a-z0-9-]+$/.test(shelf) ? [] : ['shelf must be small letters, digits and "-"']),
  ],
  open: async (connection, host) => (await import('./open-shelf.ts')).openShelf(connection, host),
};
