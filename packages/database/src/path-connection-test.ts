import { EngineError, path, StepTrace, untilStepFails, type AnyPath, type EngineHost } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { changedAddress, requireSecretsForAddress } from './address-rule.ts';
import { creationRefused, type Connections, type OpenConnection } from './connections.ts';
import { requireNoRotation, written } from './connection-write.ts';
import { connectionFields, detailsIn } from './connection-fields.ts';
import { requireSelfManageable } from './self-managed.ts';
import { recordsIn, type ConnectionRecord } from './records.ts';

const Stage = Type.Object({
  stage: Type.String({ description: 'settings, open, login: in this order. The first that fails is the last.' }),
  ok: Type.Boolean(),
  milliseconds: Type.Integer(),
  message: Type.Union([Type.String(), Type.Null()], { description: 'Why it failed.' }),
});
type Stage = Static<typeof Stage>;

/** `config/{name}/test`: what a write to the connection would find, without the write. */
export function connectionTestPaths(host: EngineHost, connections: Connections): readonly AnyPath[] {
  const test = path('config/{name}/test', {
    synopsis: 'What a connection with these settings would find.',
    description:
      'Takes what a write to the connection takes, over the stored settings. Logs in to the database and closes the session: nothing is stored, and the ' +
      'connection in use is not touched. Stored secrets are used at the stored address alone.',
    arbitraryData: true,
    fields: connectionFields,
  }).update({
    summary: 'Tries settings of a connection.',
    response: Type.Object({ ok: Type.Boolean(), stages: Type.Array(Stage) }),
    handle: async (req) => {
      const { name } = req.data;
      const details = detailsIn(req.raw);
      const write = { ...req.data, details };
      const before = await recordsIn(host.storage).connections.get(name);
      const stages: Stage[] = [];
      const trace = new StepTrace<'settings' | 'open' | 'login'>(host.clock, ({ step, ok, milliseconds, error }) =>
        stages.push({ stage: step, ok, milliseconds: Math.max(0, Math.round(milliseconds)), message: error ?? null }),
      );
      const reasonFor = (error: unknown): EngineError => {
        const refused = creationRefused(error);
        if (!(refused instanceof EngineError) || req.signal.aborted) throw refused;
        return refused;
      };
      await untilStepFails(async () => {
        const settings = (): ConnectionRecord => {
          const asked = written(before, write);
          requireNoRotation(name, asked, write, before, host.clock.millis());
          const plugin = connections.requirePlugin(asked);
          requireSelfManageable(plugin, asked);
          const changed = changedAddress(before, asked, plugin.connection);
          requireSecretsForAddress({ before, after: asked, changed, sent: details, schema: plugin.connection, sudo: req.caller.sudo });
          return asked;
        };
        const record = await trace.take('settings', settings, { reasonFor });
        const open = await trace.take('open', async () => connections.openApart({ name, record }), { reasonFor });
        if (record.self_managed) await open.session.close();
        else await trace.take('login', async () => login(open, req.signal), { reasonFor });
      });
      return { data: { ok: stages.every(({ ok }) => ok), stages } };
    },
  });
  return [test];
}

async function login({ session }: OpenConnection, signal: AbortSignal): Promise<void> {
  try {
    await session.verify(signal);
  } finally {
    await session.close().catch(() => undefined);
  }
}
