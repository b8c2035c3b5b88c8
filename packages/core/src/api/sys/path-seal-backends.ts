import { type AnyPath, BadRequest, path, Timestamp } from '@strongroom/engine-sdk';
import { Type, type Static } from 'typebox';
import { FAILURE_KINDS, type SealFailureKind } from '../../services/seal/seal-failure.ts';
import type { SealHandle } from '../../services/seal/seal-handle.ts';
import type { SealHealth } from '../../services/seal/seal-health.ts';
import type { Seal } from '../../services/seal/seal.ts';
import { json, json200 } from './json-answer.ts';

export interface SealBackendDeps {
  readonly seal: Seal;
  readonly sealHealth: SealHealth;
}

const Backend = Type.Object({
  name: Type.String(),
  type: Type.String(),
  priority: Type.Integer({ description: 'The lowest is asked first.' }),
  configured: Type.Boolean(),
  disabled: Type.Boolean({ description: 'It only opens what is to be migrated, and is not checked.' }),
  healthy: Type.Boolean({ description: 'False from a check or a try to open that failed until one that succeeds.' }),
  unhealthy_since: Type.Optional(Timestamp),
  failure: Type.Optional(Type.Unsafe<SealFailureKind>(Type.String({ enum: [...FAILURE_KINDS] }))),
});

const SealBackends = Type.Object({
  healthy: Type.Boolean({ description: 'Whether every enabled seal is.' }),
  unhealthy_since: Type.Optional(Timestamp),
  fully_wrapped: Type.Boolean({ description: 'Whether each enabled seal alone opens the store.' }),
  backends: Type.Array(Backend),
  migration: Type.Optional(
    Type.Object(
      { from: Type.String(), to: Type.String() },
      { description: 'Of a migration that waits for the operators: the types of the seals.' },
    ),
  ),
});

const Rewrap = Type.Object({
  is_running: Type.Boolean({ description: 'False: the answer comes when all is done.' }),
  entries: Type.Object({
    processed: Type.Integer({ description: 'Enabled seals.' }),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
  }),
  seals: Type.Array(
    Type.Object({
      name: Type.String(),
      type: Type.String(),
      key_id: Type.Union([Type.String(), Type.Null()], {
        description: 'The version of its key that wrapped; null where it has wrapped nothing yet.',
      }),
      failure: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});

/** `sys/seal-backend-status`: how each seal is. Answers everybody, sealed or not. */
export function sealBackendPath(deps: SealBackendDeps): AnyPath {
  return path('seal-backend-status', {
    access: 'unauthenticated',
    synopsis: 'How each seal of the configuration is.',
    description: 'Open to everybody: it holds nothing that a service has said.',
    fields: {},
  }).read({ summary: 'Shows the seals.', response: json200(SealBackends), handle: async () => json(await backendsOf(deps)) });
}

/** `sys/sealwrap/rewrap`: wraps the seal key with the newest version of each seal's key. */
export function sealRewrapPath({ seal, sealHealth }: SealBackendDeps): AnyPath {
  const show = async (): Promise<{ data: Static<typeof Rewrap> }> => ({ data: await rewrapOf(sealHealth) });
  return path('sealwrap/rewrap', {
    access: 'sudo',
    synopsis: 'Wraps the seal key with the newest version of the key of each seal.',
    description:
      'Health checks do so by themselves. After a rotation in the service this does it at once, so that the earlier version can be disabled.',
    fields: {},
  })
    .read({ summary: 'Shows what each enabled seal has wrapped.', response: Rewrap, handle: show })
    .update({
      summary: 'Checks every enabled seal, and rewraps where its key has a newer version.',
      response: Rewrap,
      handle: async () => {
        if (!seal.automatic) throw new BadRequest('operators hold the unseal key in shares: there is nothing that a seal has wrapped');
        await sealHealth.checkNow();
        return show();
      },
    });
}

async function backendsOf({ seal, sealHealth }: SealBackendDeps): Promise<Static<typeof SealBackends>> {
  const states = sealHealth.states.map(({ healthy, since, failure, ...state }) => ({
    ...state,
    ...{ configured: true, disabled: false, healthy: healthy ?? true },
    ...(since ? { unhealthy_since: since.toISOString() } : {}),
    ...(failure ? { failure } : {}),
  }));
  const since = states.flatMap(({ unhealthy_since: one }) => one ?? []).toSorted()[0];
  const config = (await seal.migrating()) ? await seal.config() : undefined;
  return {
    healthy: states.every(({ healthy }) => healthy),
    ...(since === undefined ? {} : { unhealthy_since: since }),
    fully_wrapped: await seal.fullyWrapped(),
    backends: [...(states.length > 0 ? states : [SHARES]), ...seal.seals.disabled.map(disabledData)],
    ...(config ? { migration: { from: config.type, to: seal.type } } : {}),
  };
}

const SHARES = { name: 'shamir', type: 'shamir', priority: 1, configured: true, disabled: false, healthy: true };

function disabledData({ name, type, priority }: SealHandle): Static<typeof Backend> {
  return { name, type, priority, configured: true, disabled: true, healthy: true };
}

async function rewrapOf(sealHealth: SealHealth): Promise<Static<typeof Rewrap>> {
  const wraps = await sealHealth.wraps();
  const failed = wraps.filter(({ failure, keyId }) => failure !== undefined || keyId === undefined).length;
  return {
    is_running: false,
    entries: { processed: wraps.length, succeeded: wraps.length - failed, failed },
    seals: wraps.map(({ name, type, keyId, failure }) => ({ name, type, key_id: keyId ?? null, failure: failure ?? null })),
  };
}
