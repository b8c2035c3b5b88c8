import { type AnyPath, f, formatDuration, NoContent, path, Timestamp } from '@strongroom/engine-sdk';
import { Type } from 'typebox';
import type { Barrier } from '../../kernel/barrier/barrier.ts';
import type { KeyRotation } from '../../services/seal/key-rotation.ts';

/** `sys/key-status` and `sys/rotate…` */
export function keyPaths({ barrier, rotation }: { barrier: Barrier; rotation: KeyRotation }): AnyPath[] {
  const rotate = {
    summary: 'Rotates the barrier key.',
    response: NoContent,
    handle: async () => {
      await barrier.rotate();
      return undefined;
    },
  };
  const about = {
    synopsis: 'Adds a key to the key ring.',
    description: 'What is written from now on uses it; what was written stays readable.',
    access: 'sudo' as const,
    fields: {},
  };
  return [
    path('key-status', {
      synopsis: 'The barrier key in use.',
      description: 'Its term, when it was installed, and how often it encrypted.',
      fields: {},
    }).read({
      summary: 'Shows the key status.',
      response: Type.Object({ term: Type.Integer(), install_time: Timestamp, encryptions: Type.Integer() }),
      handle: async () => ({
        data: { term: barrier.ring.term, install_time: barrier.ring.installedAt, encryptions: barrier.ring.encryptions },
      }),
    }),
    path('rotate', about).update(rotate),
    path('rotate/keyring', about).update(rotate),
    path('rotate/config', {
      synopsis: 'When the barrier key rotates by itself.',
      description: 'After max_operations encryptions, and each interval.',
      fields: {
        enabled: f.bool('Whether it does.'),
        max_operations: f.int('Encryptions per key.'),
        interval: f.duration('At most so long with one key; at least 24 hours, or 0.'),
      },
    })
      .read({
        summary: 'Shows the rotation settings.',
        response: Type.Object({
          max_operations: Type.Integer(),
          enabled: Type.Boolean(),
          interval: Type.Union([Type.String({ format: 'duration' }), Type.Literal(0)]),
        }),
        handle: async () => {
          const config = await rotation.config();
          return {
            data: {
              max_operations: config.max_operations,
              enabled: config.enabled,
              interval: config.interval === 0 ? (0 as const) : formatDuration(config.interval),
            },
          };
        },
      })
      .update({
        summary: 'Changes the rotation settings.',
        response: NoContent,
        handle: async ({ data, supplied }) => {
          const before = await rotation.config();
          await rotation.configure({
            enabled: supplied.has('enabled') ? data.enabled === true : before.enabled,
            max_operations: data.max_operations ?? before.max_operations,
            interval: data.interval ?? before.interval,
          });
          return undefined;
        },
      }),
  ];
}
