import { type AnyPath, type EngineHost, f, NoContent, path } from '@strongroom/engine-sdk';
import { DEFAULT_SETTINGS, recordsIn, Settings, settingsIn } from './records.ts';
import type { Sweep } from './sweep.ts';

/** `config`: whether anything is synced at all. */
export function configPath(host: EngineHost, sweep: Sweep): AnyPath {
  const shown = async () => ({ data: await settingsIn(recordsIn(host.storage)) });
  const write = async (sent: { readonly disabled: boolean | undefined; readonly queue_capacity: number | undefined }) => {
    await host.storage.transaction(async (tx) => {
      const records = recordsIn(tx);
      const before = await settingsIn(records);
      const after = { disabled: sent.disabled ?? before.disabled, queue_capacity: sent.queue_capacity ?? before.queue_capacity };
      await records.settings.put('settings', after);
      if (before.disabled && !after.disabled) await sweep.begin(tx);
    });
    return shown();
  };
  return path('config', {
    synopsis: 'Whether secrets are synced.',
    description: 'While syncing is disabled, what changes stays in the queue as PENDING; nothing is sent.',
    fields: {
      disabled: f.bool('Nothing is written outside while this is true.'),
      queue_capacity: f.int('The most associations that may wait to be synced; setting more is refused.', {
        minimum: 1,
        maximum: 10_000_000,
      }),
    },
  })
    .read({ summary: 'Reads the settings of secret sync.', response: Settings, handle: shown })
    .update({ summary: 'Changes settings.', response: Settings, handle: async ({ data }) => write(data) })
    .patch({ summary: 'Changes settings.', response: Settings, handle: async ({ data }) => write(data) })
    .delete({
      summary: 'Resets the settings.',
      response: NoContent,
      handle: async () => {
        await write(DEFAULT_SETTINGS);
        return undefined;
      },
    });
}
